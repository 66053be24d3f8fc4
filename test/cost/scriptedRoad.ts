import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import type { EvmChainConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { verifyDust } from "../../src/deposit/verify/verifyDust.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { verifyDeposits } from "../../src/deposit/verify/verifyDeposits.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { purgeExpired } from "../../src/idempotency/purgeExpired.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { verifySweeps } from "../../src/settlement/observe/verifySweeps.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { replanSettlements } from "../../src/settlement/replanSettlements.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { scanHintedInboxes } from "../../src/watch/reread/scanHintedInboxes.ts";
import type { Transfer, TransferScope } from "../../src/chain/reader.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import type { World } from "../../src/world.ts";
import { ScriptedChain } from "../sim/chain/scriptedChain.ts";
import { ScriptedNode } from "../sim/chain/scriptedNode.ts";
import { tokenCalls } from "../sim/chain/token.ts";
import { countMoney } from "../support/countMoney.ts";
import { TEST_CHAIN_CONFIG, stationWorld } from "../support/stationWorld.ts";

// The road over a chain in memory, so that thousands of transfers cost no time. Tests run the loops by hand.

const PAYER = `0x${"a1".repeat(20)}`;
const OWNER = `0x${"0e".repeat(20)}`;
export const USDC = `0x${"c1".repeat(20)}`;
const GAS_KEY = `0x${"11".repeat(32)}` as const;
const UNITS = 10n ** 30n;
const PROVIDERS = 2;
const PURGE_MAX = 1_000;
const BLOCK_MS = 2_000;
/** The gas limit of a scripted transaction holds this many transfers. */
const TRANSFERS_A_TRANSACTION = 300;
const DOLLAR = 1_000_000n;
/** One provider suffices up to this sum; the first finality tier ends here too. */
export const LIMIT_PRICE_UNITS = 100n * DOLLAR;

export type ScriptedRoad = {
  world: World;
  chain: Chain;
  scripted: ScriptedChain;
  nodes: readonly ScriptedNode[];
  /** Transactions whose logs the providers omit when a single block is read. */
  omitted: Set<string>;
  /** Puts a call of the token's owner into the next block. */
  callAsOwner: (data: string) => void;
  /** Runs every loop once, in the order of the stations. */
  tick: () => Promise<void>;
  /** Mines empty blocks with a round of the loops after each. */
  advance: (blocks: number) => Promise<void>;
  /** Puts a payment into the next block. */
  pay: (inbox: string, units: bigint) => string;
  /** Mines one block with this many transfers of one unit. */
  mineDust: (inbox: string, transfers: number) => void;
  passTime: (durationMs: number) => void;
};

export type ScriptedRoadOptions = { chain?: Partial<EvmChainConfig>; blocks?: number };

/** Opens a world over the database. Its chain has `blocks` empty blocks. */
export function openScriptedRoad(db: Db, options: ScriptedRoadOptions = {}): ScriptedRoad {
  const scripted = new ScriptedChain({
    chainId: TEST_CHAIN_CONFIG.chainId,
    tokens: [{ address: USDC, symbol: "USDC", decimals: 6, kind: "plain", owner: OWNER }],
    units: [{ token: USDC, owner: PAYER, units: UNITS }],
    wei: [{ address: openGasAccount(GAS_KEY).address, wei: UNITS }],
  });
  for (let block = 0; block < (options.blocks ?? 0); block += 1) scripted.mine();
  const station = stationWorld(db, roadChainConfig(options.chain));
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const omitted = new Set<string>();
  const [first, ...others] = Array.from(
    { length: PROVIDERS },
    (_, index) => new OmittingNode(scripted, `provider-${index}`, omitted),
  );
  if (first === undefined) throw new Error("the road has no provider");
  const gasAccount = openGasAccount(GAS_KEY);
  const nodes = [first, ...others] as const;
  const chain = createEvmChain({ nodes, gasAccount }, { clock, log: station.log });
  const world: World = {
    ...station,
    clock,
    wake: createWake(clock),
    chains: new Map([[chain.caip2, chain]]),
    catalog: buildCatalog(station.config),
  };
  const tick = () => runLoopsOnce(world, chain);
  return {
    world,
    chain,
    scripted,
    nodes,
    omitted,
    tick,
    callAsOwner: (data) => void scripted.send({ from: OWNER, calls: [{ to: USDC, data }] }),
    advance: async (blocks) => {
      for (let block = 0; block < blocks; block += 1) {
        scripted.mine();
        aheadMs += BLOCK_MS;
        await tick();
      }
    },
    pay: (inbox, units) => scripted.pay({ token: USDC, from: PAYER, to: inbox, units }),
    mineDust: (inbox, transfers) => mineDust(scripted, inbox, transfers),
    passTime: (durationMs) => {
      aheadMs += durationMs;
    },
  };
}

/** A node whose answer for one block may lack logs, as happens behind a load balancer. */
class OmittingNode extends ScriptedNode {
  readonly #omitted: ReadonlySet<string>;

  constructor(scripted: ScriptedChain, name: string, omitted: ReadonlySet<string>) {
    super(scripted, { name });
    this.#omitted = omitted;
  }

  override async transfers(
    scope: TransferScope,
    tokens: readonly string[],
    parties?: readonly string[],
  ): Promise<Transfer[]> {
    const transfers = await super.transfers(scope, tokens, parties);
    return "blockHash" in scope ? transfers.filter(({ chainTx }) => !this.#omitted.has(chainTx)) : transfers;
  }
}

function roadChainConfig(change: Partial<EvmChainConfig> = {}): Partial<EvmChainConfig> {
  return {
    gasKey: GAS_KEY,
    finality: [
      { upToPriceUnits: LIMIT_PRICE_UNITS, finality: { confirmations: 1 } },
      { upToPriceUnits: undefined, finality: { tag: "finalized" } },
    ],
    agreement: { providers: PROVIDERS, abovePriceUnits: LIMIT_PRICE_UNITS },
    tokens: [
      { symbol: "USDC", slug: "usdc", address: USDC, decimals: 6, minimumUnits: DOLLAR, isOrigin: true, isRail: true },
    ],
    ...change,
  };
}

function mineDust(scripted: ScriptedChain, inbox: string, transfers: number): void {
  const call = { to: USDC, data: tokenCalls.transfer(inbox, 1n) };
  for (let sent = 0; sent < transfers; sent += TRANSFERS_A_TRANSACTION) {
    const count = Math.min(TRANSFERS_A_TRANSACTION, transfers - sent);
    scripted.send({ from: PAYER, calls: Array.from({ length: count }, () => call) });
  }
  scripted.mine();
}

async function runLoopsOnce(world: World, chain: Chain): Promise<void> {
  const { caip2 } = chain;
  while ((await watchChain(world, chain)).isBehind);
  await scanHintedInboxes(world, chain);
  while (!(await processMovements(world, caip2)).isDone);
  await countMoney(world, caip2);
  await verifyDeposits(world, chain);
  await verifyDust(world, chain);
  while (!(await observeSettlements(world, caip2)).isDone);
  while (!(await verifySweeps(world, chain)).isDone);
  await planSettlements(world, caip2);
  await submitSettlements(world, { chain });
  await chain.sender.process(world);
  await replanSettlements(world, caip2);
  while (!(await assignEventSequences(world)).isDone);
  await purgeExpired(world, PURGE_MAX);
}
