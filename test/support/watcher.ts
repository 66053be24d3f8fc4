import { after, afterEach, before, beforeEach } from "node:test";
import { pino } from "pino";
import { type Hex, pad, concatHex, numberToHex, size, slice } from "viem";
import { buildCatalog, type Catalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import type { Chain } from "../../src/chain/chain.ts";
import type { EvmNode } from "../../src/chain/evm/node.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { EvmChainConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import type { MovementRow } from "../../src/watch/movement.ts";
import type { WatchWorld } from "../../src/watch/watchWorld.ts";
import { watchChain, type WatchOutcome } from "../../src/watch/follow/watchChain.ts";
import { waitUntilMined, type ContractCall } from "../../src/dev/chains/devClient.ts";
import { transferCall } from "../../src/dev/chains/tokens.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { openTestDatabase } from "./database.ts";
import { assertLedgerAndWatchChecks } from "./ledgerAssertions.ts";
import { insertIntent } from "./intents.ts";
import { watchNow } from "./watchNow.ts";
import { TEST_CHAIN_CONFIG } from "./stationWorld.ts";

const log = pino({ level: "silent" });

export type WatchedChain = { db: Db; chain: TestChain; usdc: Hex };

export type WatchSetUp = {
  /** The stranger's USDC at the chain's start. */
  strangerUnits?: bigint;
  /** Checks the ledger and the recorded transfers after each test. */
  checksLedger?: boolean;
};

/**
 * Opens one chain for all tests of a `describe`, and a new database for each test. `use` receives both before the test.
 */
export function setUpWatchTests(use: (opened: WatchedChain) => void, options: WatchSetUp = {}): void {
  let db: Db;
  let chain: TestChain;
  before(async () => {
    chain = await startTestChain();
    const { strangerUnits } = options;
    if (strangerUnits !== undefined) await chain.mint(chain.usdc.address, DEV_ACCOUNTS.stranger.address, strangerUnits);
  });
  after(() => chain.stop());
  beforeEach(async () => {
    db = await openTestDatabase("postgres");
    use({ db, chain, usdc: chain.usdc.address });
  });
  afterEach(async () => {
    try {
      if (options.checksLedger === true) await assertLedgerAndWatchChecks(db);
    } finally {
      await db.close();
    }
  });
}

/** Replaces some methods of a test chain's real node. */
export type NodeOverride = (node: EvmNode) => Partial<EvmNode>;

/** The world of a watcher of a test chain. Its two tokens are origins and rails. */
function watchWorld(db: Db, chain: TestChain): WatchWorld {
  return {
    db,
    clock: systemClock,
    wake: createWake(systemClock),
    memory: new ProcessMemory(),
    catalog: catalogOf(chain),
    log,
  };
}

/** Opens the chain with one provider per override; without overrides, with the real provider. */
export function openTestChain(chain: TestChain, ...overrides: readonly NodeOverride[]): Chain {
  const nodes = (overrides.length === 0 ? [() => ({})] : overrides).map((override) => overrideNode(chain, override));
  const [first, ...others] = nodes;
  if (!first) throw new Error("the chain has no provider");
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  const opened = createEvmChain({ nodes: [first, ...others], gasAccount }, { clock: systemClock, log });
  return { ...opened, detection: nodes.some((node) => node.holdings !== undefined) ? "balances" : "blocks" };
}

function overrideNode(chain: TestChain, override: NodeOverride): EvmNode {
  const node: EvmNode = openEvmNode({ caip2: chain.caip2, rpcUrl: chain.rpcUrl });
  const overridden = override(node);
  // Overrides apply to the plain methods only. Removing the optional shortcuts makes callers use these.
  const isOverridden = Object.keys(overridden).length > 0;
  const isOptionalShortcut = (name: string | symbol) =>
    ["filterTransfers", "blocksWithProofs", "blocksWithTransfers", "blocksAt"].includes(String(name));
  return new Proxy(node, {
    get(target, name) {
      if (isOverridden && isOptionalShortcut(name)) return undefined;
      const value: unknown = Reflect.get(overridden, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** Starts a watcher, like another process: at the present head, or at the database's cursor. */
export async function startWatcher(
  db: Db,
  chain: TestChain,
  ...overrides: readonly NodeOverride[]
): Promise<{ world: WatchWorld; chain: Chain; watch: () => Promise<WatchOutcome> }> {
  const world = watchWorld(db, chain);
  const watched = openTestChain(chain, ...overrides);
  await watchChain(world, watched);
  return { world, chain: watched, watch: () => watchNow(world, watched) };
}

export async function insertInbox(db: Db): Promise<Hex> {
  return (await insertIntent(db)).inbox_address as Hex;
}

/** One transaction with several calls, in a new contract's constructor. `reverts` reverts them at its end. */
export function batchCalls(calls: readonly ContractCall[], ending: "keeps" | "reverts" = "keeps"): ContractCall {
  const code = calls.map(({ to = "0x", data = "0x" }) => {
    const words = Array.from({ length: Math.ceil(size(data) / 32) }, (_, word) => {
      const chunk = pad(slice(data, word * 32, Math.min((word + 1) * 32, size(data))), { dir: "right", size: 32 });
      return concatHex(["0x7f", chunk, "0x60", numberToHex(word * 32, { size: 1 }), "0x52"]);
    });
    const length = numberToHex(size(data), { size: 1 });
    return concatHex([...words, "0x6000600060", length, "0x60006000", "0x73", to, "0x5af150"]);
  });
  return { data: concatHex([...code, ending === "reverts" ? "0x60006000fd" : "0x00"]), gasLimit: 3_000_000n };
}

/** One transaction that makes one call in blocks of even numbers and another in odd ones. */
export function callByBlockParity({ even, odd }: { even: ContractCall; odd: ContractCall }): ContractCall {
  const [evenCode, oddCode] = [batchCalls([even]).data ?? "0x", batchCalls([odd]).data ?? "0x"];
  // NUMBER & 1 decides whether to jump over the even code, which ends with STOP.
  const head = (landing: number) => concatHex(["0x43600116", "0x61", numberToHex(landing, { size: 2 }), "0x57"]);
  const landing = size(head(0)) + size(evenCode);
  return { data: concatHex([head(landing), evenCode, "0x5b", oddCode]), gasLimit: 3_000_000n };
}

/** Moves tokens out of any address, as its owner can, and waits for the block. */
export async function transferFromAddress(
  chain: TestChain,
  from: Hex,
  out: { token: Hex; to: Hex; amountUnits: bigint },
): Promise<void> {
  const { data } = transferCall(out.token, out.to, out.amountUnits);
  await chain.client.setBalance({ address: from, value: 10n ** 18n });
  await chain.client.impersonateAccount({ address: from });
  const hash = await chain.client.request<{ Method: string; Parameters: unknown[]; ReturnType: Hex }>({
    method: "eth_sendTransaction",
    params: [{ from, to: out.token, data }],
  });
  await waitUntilMined(chain.client, hash);
  await chain.client.stopImpersonatingAccount({ address: from });
}

/** Every movement of a chain in the order of first recording, orphaned ones included. */
export async function movementsOf(db: Db, chain: TestChain): Promise<MovementRow[]> {
  return db.root.selectFrom("movement").selectAll().where("chain", "=", chain.caip2).orderBy("id").execute();
}

function catalogOf(chain: TestChain): Catalog {
  const tokens = [chain.usdc, chain.dusd].map(({ symbol, address, decimals }) => ({
    symbol,
    slug: symbol.toLowerCase(),
    address,
    decimals,
    minimumUnits: 0n,
    isOrigin: true,
    isRail: true,
  }));
  const config: EvmChainConfig = {
    ...TEST_CHAIN_CONFIG,
    caip2: chain.caip2,
    chainId: chain.chainId,
    slug: "test",
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    tokens,
    defaultToken: "USDC",
  };
  return buildCatalog({ chains: [config], defaultRail: "test:usdc" });
}
