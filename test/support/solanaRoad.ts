import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { pino, type Logger } from "pino";
import type { Chain } from "../../src/chain/chain.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { openSolanaChain } from "../../src/chain/solana/openSolanaChain.ts";
import type { Config, SolanaChainConfig, TokenConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { verifyDust } from "../../src/deposit/verify/verifyDust.ts";
import { verifyDeposits } from "../../src/deposit/verify/verifyDeposits.ts";
import { verifySweeps } from "../../src/settlement/observe/verifySweeps.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import {
  LOCAL_INBOX_PROGRAM,
  LOCAL_MINTS,
  SOLANA_ACCOUNTS,
  type LocalMint,
} from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import { startLocalSolana, type LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { caip2 } from "../../src/kernel/caip.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { primeAccountsLoop } from "../../src/loops/primeAccountsLoop.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { replanSettlements } from "../../src/settlement/replanSettlements.ts";
import type { SettlementRow } from "../../src/settlement/settlement.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { followAccounts, searchAccounts } from "../../src/watch/accounts/followAccounts.ts";
import { retryUnreadable } from "../../src/watch/unreadable/retryUnreadable.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { preparePasses } from "../../src/watch/reconcile/reconcileBalances.ts";
import type { World } from "../../src/world.ts";
import { countMoney } from "./countMoney.ts";
import { openTestDatabase } from "./database.ts";
import { assertAllChecks } from "./ledgerAssertions.ts";
import { createWallet, payTokens } from "./solana.ts";

// The road on a local Solana. Every loop runs by hand, and so do the slots.

const FEE_BPS = 50;
const ROUNDS_MAX = 400;
/** Longer than any pass over all inboxes waits. */
const ROUND_MS = 2_000;
const USDC = LOCAL_MINTS.USDC;
let roads = 0;

export type SolanaRoad = {
  readonly db: Db;
  readonly world: World;
  readonly solana: LocalSolana;
  /** The service's fee payer. */
  readonly payer: Keypair;
  readonly payout: Keypair;
  /** Adds to the service's clock. */
  advance(ms: number): void;
  create(input?: CreateIntentInput): Promise<IntentRow>;
  /** Pays as a wallet does, in a transaction of its own. Returns its signature. */
  pay(intent: IntentRow, units: bigint): string;
  /** Runs each loop once. */
  tick(): Promise<void>;
  /** A process with an empty memory over the same database. */
  restart(): void;
  /** Runs all loops, a slot each round, until the condition holds. Throws when it does not. */
  until(condition: () => Promise<boolean>): Promise<void>;
  untilLanded(intent: IntentRow, count?: number): Promise<void>;
  intent(of: { id: string }): Promise<IntentRow>;
  settlements(intent: { id: string }): Promise<SettlementRow[]>;
  /** What an owner's derived account holds of USDC. */
  unitsOf(owner: string): bigint;
  close(): Promise<void>;
};

export type SolanaRoadOptions = {
  db?: Db;
  /** Other providers than the honest one, by the URL of the honest one. */
  rpcUrls?: (honest: string) => Promise<readonly string[]>;
  agreement?: SolanaChainConfig["agreement"];
  /** Default 0. */
  settleAfterMs?: number;
  /** The chain pushes its slots. Default false. */
  hasFeed?: boolean;
  log?: Logger;
  priming?: SolanaChainConfig["priming"];
  /** Tokens that are neither origin nor rail, beside USDC. */
  retired?: readonly LocalMint[];
};

export async function openSolanaRoad(options: SolanaRoadOptions = {}): Promise<SolanaRoad> {
  const [db, solana] = await Promise.all([
    options.db ?? openTestDatabase("postgres"),
    startLocalSolana({ clock: systemClock, slotMs: 0, name: `road ${(roads += 1)}`, finalizedAfter: 4 }),
  ]);
  const { control } = solana;
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const { operator, feeRecipient } = SOLANA_ACCOUNTS;
  const payer = createWallet(solana, 10_000_000_000n);
  const payout = createWallet(solana, 0n);
  const owners = [feeRecipient.address, payout.address];
  control.send(
    [operator],
    owners.map((owner) => createTokenAccount(operator.address, { owner, mint: USDC.address })),
  );
  control.finalize();
  const rpcUrls = (await options.rpcUrls?.(solana.url)) ?? [solana.url];
  const config = solanaConfig(solana, payer, { ...options, rpcUrls });
  const [chainConfig] = config.chains as [SolanaChainConfig];
  const log = options.log ?? pino({ level: process.env["ROAD_LOG"] ?? "silent" });
  const startProcess = () => {
    const chain = openSolanaChain(chainConfig, { clock, log });
    const world: World = {
      config,
      db,
      clock,
      entropy: systemEntropy,
      wake: createWake(clock),
      memory: new ProcessMemory(),
      catalog: buildCatalog(config),
      chains: new Map([[chain.caip2, chain]]),
      log,
    };
    return { world, chain };
  };
  let running = startProcess();
  const { world } = running;
  await running.chain.sender.verify(chainConfig);
  const account = await createAccount(world, {
    name: "Merchant",
    feeBps: FEE_BPS,
    payout: {
      namespace: "solana",
      chainReference: solana.reference,
      wallet: payout.address,
      currency: "USDC",
    },
  });
  const tick = () => runLoopsOnce(running.world, running.chain);
  const until = async (condition: () => Promise<boolean>) => {
    for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
      if (await condition()) return;
      await tick();
      control.nextSlot();
      aheadMs += ROUND_MS;
    }
    throw new Error("the condition does not hold after all rounds");
  };
  const settlements = ({ id }: { id: string }) =>
    db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
  await preparePasses(world, running.chain);
  await tick();
  return {
    db,
    get world() {
      return running.world;
    },
    solana,
    payer,
    payout,
    advance: (ms) => {
      aheadMs += ms;
    },
    create: async (input = {}) => (await createIntent(db.root, world, { account, input })).intent,
    pay: (intent, units) => payTokens(solana, { to: intent.inbox_address, units }),
    tick,
    restart: () => {
      running = startProcess();
    },
    until,
    untilLanded: (intent, count = 1) =>
      until(async () => {
        const found = await settlements(intent);
        return found.length >= count && found.every(({ status }) => status === "landed");
      }),
    intent: ({ id }) => db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    settlements,
    unitsOf: (owner) => {
      const held = control.account(deriveTokenAccount(owner, USDC.address, USDC.program).address);
      return held === undefined ? 0n : Buffer.from(held.data).readBigUInt64LE(64);
    },
    close: async () => {
      try {
        await assertAllChecks(db);
      } finally {
        await db.close();
        await solana.stop();
      }
    },
  };
}

/** Runs every loop of a cluster once. */
export async function runLoopsOnce(world: World, chain: Chain): Promise<void> {
  await watchChain(world, chain);
  await followAccounts(world, chain, "viewed");
  await followAccounts(world, chain, "all");
  await searchAccounts(world, chain);
  await retryUnreadable(world, chain);
  await processMovements(world, chain.caip2);
  await countMoney(world, chain.caip2);
  await verifyDeposits(world, chain);
  await verifyDust(world, chain);
  await observeSettlements(world, chain.caip2);
  await verifySweeps(world, chain);
  await planSettlements(world, chain.caip2);
  await submitSettlements(world, { chain });
  await primeAccountsLoop(world, chain).tick();
  await chain.sender.process(world);
  await replanSettlements(world, chain.caip2);
}

type ChainOptions = Pick<SolanaRoadOptions, "agreement" | "hasFeed" | "priming" | "retired" | "settleAfterMs"> & {
  rpcUrls: readonly string[];
};

/** A configuration with this cluster alone. */
export function solanaConfig(solana: LocalSolana, payer: Keypair, options: ChainOptions): Config {
  const { rpcUrls, agreement, hasFeed, priming, settleAfterMs = 0, retired = [] } = options;
  const chain: SolanaChainConfig = {
    caip2: caip2("solana", solana.reference),
    chainId: 104,
    name: "Local Solana",
    slug: "solana-local",
    rpcUrls: [...rpcUrls],
    ...(hasFeed === true && { wsUrls: [solana.wsUrl] }),
    publicRpcUrl: solana.url,
    explorerUrl: "http://127.0.0.1:8787/explorer",
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    pollMs: 1_000,
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    agreement,
    priming,
    settleAfterMs,
    settleBatchMax: 8,
    tokens: [tokenConfig(USDC, true), ...retired.map((mint) => tokenConfig(mint, false))],
    defaultToken: "USDC",
    gate: "local",
    program: LOCAL_INBOX_PROGRAM,
    feePayer: payer.address,
    feePayerKey: encodeBase58(Uint8Array.from([...payer.seed, ...decodeKey("payer", payer.address)])),
    feeRecipient: SOLANA_ACCOUNTS.feeRecipient.address,
    computeUnitPriceMax: 1_000_000n,
  };
  return {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 0 },
    database: { kind: "pglite", directory: undefined },
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    chains: [chain],
    defaultRail: "solana-local:usdc",
    logLevel: "silent",
  };
}

function tokenConfig({ symbol, address, decimals, program }: LocalMint, isLive: boolean): TokenConfig {
  const minimumUnits = 10_000n;
  const live = { isOrigin: isLive, isRail: isLive };
  return { symbol, slug: symbol.toLowerCase(), address, decimals, tokenProgram: program, minimumUnits, ...live };
}
