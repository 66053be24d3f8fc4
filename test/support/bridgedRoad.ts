import { pino } from "pino";
import { trackCrossings } from "../../src/bridge/trackCrossings.ts";
import { receiveCrossings } from "../../src/bridge/receiveCrossings.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openAttestationClient } from "../../src/chain/evm/bridge/attestationClient.ts";
import { openEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { isEvmChainConfig, type EvmChainConfig, type Config } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { startAttestationServer, type AttestationServer } from "../../src/dev/attestation/attestationServer.ts";
import { deployLocalBridge, localBridge, type BridgeSide } from "../../src/dev/chains/bridge.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { landCrossings } from "../../src/settlement/crossing/landCrossings.ts";
import { suspendMints } from "../../src/settlement/crossing/suspendMints.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { replanSettlements } from "../../src/settlement/replanSettlements.ts";
import type { SettlementRow } from "../../src/settlement/settlement.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { watchNow } from "./watchNow.ts";
import type { World } from "../../src/world.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { countMoney } from "./countMoney.ts";
import { openTestDatabase } from "./database.ts";
import { assertAllChecks } from "./ledgerAssertions.ts";
import { TEST_CHAIN_CONFIG } from "./stationWorld.ts";

// The road across local chains that a bridge joins. Every loop runs by hand.

const FIRST_CHAIN_ID = 900_001;
const FEE_BPS = 50;
/** Chains so slow to be final that a fast crossing is worth its fee. */
const SLOW_MS = 900_000;
const TICKS_MAX = 40;

/** `isReceiving` false: what the bridge's service has proven is left to strangers. */
type TickOptions = { isReceiving?: boolean };

export type BridgedRoad = {
  db: Db;
  world: World;
  /** In the order of their domains. */
  chains: readonly TestChain[];
  sides: readonly BridgeSide[];
  attestation: AttestationServer;
  /** Moves the clock of service and attestation ahead. */
  advance(ms: number): void;
  /** Runs every loop of every chain once. */
  tick(options?: TickOptions): Promise<void>;
  /** Runs, with a block of each chain a round, until a condition holds. Fails when it never does. */
  until(condition: () => Promise<boolean>, options?: TickOptions): Promise<void>;
  /** Runs until every settlement of the intent, at least `count`, has landed. */
  untilLanded(intent: { id: string }, count?: number): Promise<void>;
  /** A process with an empty memory over the same database. */
  restart(): void;
  create(rail: TestChain, input?: CreateIntentInput): Promise<IntentRow>;
  pay(chain: TestChain, intent: IntentRow, amountUnits: bigint): Promise<string>;
  intent(intent: { id: string }): Promise<IntentRow>;
  settlements(intent: { id: string }): Promise<SettlementRow[]>;
  /** Balances of payout, fee recipient and inbox in USDC of a chain. */
  balances(chain: TestChain, intent: IntentRow): Promise<{ payout: bigint; fee: bigint; inbox: bigint }>;
  close(): Promise<void>;
};

export type BridgedRoadOptions = {
  chains?: number;
  isFast?: boolean;
  /** What a coin of each chain costs in dollars. Absent: unknown. */
  nativeUsd?: string;
  /** Whether every chain also takes its dollar of 18 decimals, which does not cross. */
  hasDusd?: boolean;
  db?: Db;
  /** The addresses of a chain's providers; the node itself where absent. */
  rpcUrlsOf?: (chain: TestChain) => Promise<readonly string[]>;
  agreement?: EvmChainConfig["agreement"];
};

/** A road of two chains. `home`: where intents settle. `away`: the chain that crossings come from. */
export async function openBridgedPair(
  options: BridgedRoadOptions = {},
): Promise<{ road: BridgedRoad; home: TestChain; away: TestChain }> {
  const road = await openBridgedRoad({ ...options, chains: 2 });
  const [home, away] = road.chains;
  if (home === undefined || away === undefined) throw new Error("the road lacks a chain");
  return { road, home, away };
}

export async function openBridgedRoad(options: BridgedRoadOptions = {}): Promise<BridgedRoad> {
  const { chains: count = 3, isFast = true } = options;
  const [db, ...chains] = await Promise.all([
    options.db ?? openTestDatabase("postgres"),
    ...Array.from({ length: count }, (_, index) => startTestChain({ chainId: FIRST_CHAIN_ID + index })),
  ]);
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + aheadMs) };
  const sides = chains.map(({ chainId, client, usdc }, domain): BridgeSide => {
    return { chainId, client, token: usdc.address, bridge: localBridge(chainId, domain) };
  });
  await deployLocalBridge(sides);
  const attestation = await startAttestationServer(sides, { now: () => clock.now().getTime() });
  const rpcUrls = await Promise.all(chains.map(async (chain) => (await options.rpcUrlsOf?.(chain)) ?? [chain.rpcUrl]));
  const { nativeUsd, hasDusd, agreement } = options;
  const { url: attestationUrl } = attestation;
  const config = bridgedConfig(chains, { sides, rpcUrls, attestationUrl, isFast, nativeUsd, hasDusd, agreement });
  const log = pino({ level: "silent" });
  const openWorld = (): World => ({
    config,
    db,
    clock,
    entropy: systemEntropy,
    wake: createWake(clock),
    memory: new ProcessMemory(),
    catalog: buildCatalog(config),
    chains: new Map(
      config.chains
        .filter(isEvmChainConfig)
        .map((chain) => [chain.caip2, openEvmChain(chain, { clock, log }, config.chains)] as const),
    ),
    bridge,
    log,
  });
  const bridge = openAttestationClient(attestation.url);
  let world = openWorld();
  const accounts = new Map(
    await Promise.all(
      chains.map(async ({ chainId }, index) => {
        const payout = {
          namespace: "eip155",
          chainReference: String(chainId),
          wallet: DEV_ACCOUNTS.payoutFirst.address,
          currency: "USDC",
        } as const;
        return [chainId, await createAccount(world, { name: `Merchant ${index}`, feeBps: FEE_BPS, payout })] as const;
      }),
    ),
  );
  const tick = async ({ isReceiving = true }: TickOptions = {}) => {
    for (const chain of world.chains.values()) await tickChain(world, chain);
    await trackCrossings(world, bridge);
    for (const chain of world.chains.values()) {
      if (isReceiving) await receiveCrossings(world, chain);
      await chain.sender.process(world);
    }
  };
  const until = async (condition: () => Promise<boolean>, tickOptions: TickOptions = {}) => {
    for (let ticks = 0; ticks < TICKS_MAX; ticks += 1) {
      if (await condition()) return;
      await tick(tickOptions);
      for (const chain of chains) await chain.mine(1);
      // A burn is asked about once a second at most.
      aheadMs += 2_000;
    }
    throw new Error("the condition does not hold after all rounds");
  };
  const settlements = ({ id }: { id: string }) =>
    db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
  await tick();
  return {
    db,
    get world() {
      return world;
    },
    chains,
    sides,
    attestation,
    advance: (ms) => {
      aheadMs += ms;
    },
    tick,
    until,
    untilLanded: (intent, count = 1) =>
      until(async () => {
        const found = await settlements(intent);
        return found.length >= count && found.every(({ status }) => status === "landed");
      }),
    restart: () => {
      world = openWorld();
    },
    create: async (rail, input = {}) => {
      const account = accounts.get(rail.chainId);
      if (account === undefined) throw new Error("every chain has a merchant");
      return (await createIntent(db.root, world, { account, input })).intent;
    },
    pay: async (chain, intent, amountUnits) =>
      (await chain.pay(chain.usdc.address, intent.inbox_address as `0x${string}`, { amountUnits })).transactionHash,
    intent: ({ id }) => db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    settlements,
    balances: async (chain, intent) => {
      const balance = (owner: string) => chain.balanceOf(chain.usdc.address, owner as `0x${string}`);
      return {
        payout: await balance(DEV_ACCOUNTS.payoutFirst.address),
        fee: await balance(DEV_ACCOUNTS.feeRecipient.address),
        inbox: await balance(intent.inbox_address),
      };
    },
    close: async () => {
      try {
        await assertAllChecks(db);
      } finally {
        await bridge.close();
        await attestation.stop();
        await db.close();
        await Promise.all(chains.map((chain) => chain.stop()));
      }
    },
  };
}

/** Runs every loop of a chain once. */
export async function tickChain(world: World, chain: Chain): Promise<void> {
  await watchNow(world, chain);
  await processMovements(world, chain.caip2);
  await countMoney(world, chain.caip2);
  await observeSettlements(world, chain.caip2);
  await landCrossings(world, chain.caip2);
  await suspendMints(world, chain.caip2);
  await planSettlements(world, chain.caip2);
  await submitSettlements(world, { chain });
  await chain.sender.process(world);
  await replanSettlements(world, chain.caip2);
}

type BridgeParts = {
  sides: readonly BridgeSide[];
  rpcUrls: readonly (readonly string[])[];
  attestationUrl: string;
  isFast: boolean;
  nativeUsd: string | undefined;
  hasDusd?: boolean | undefined;
  agreement?: EvmChainConfig["agreement"];
};

function bridgedConfig(
  chains: readonly TestChain[],
  { sides, rpcUrls, attestationUrl, ...parts }: BridgeParts,
): Config {
  return {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 0 },
    database: { kind: "pglite", directory: undefined },
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    chains: chains.map((chain, index) =>
      bridgedChain(chain, { ...parts, index, bridge: sides[index]?.bridge, rpcUrls: rpcUrls[index] }),
    ),
    bridge: { attestationUrl, fastFeePpmMax: 500 },
    defaultRail: "chain0:usdc",
    logLevel: "silent",
  };
}

type ChainParts = Pick<BridgeParts, "isFast" | "nativeUsd" | "hasDusd" | "agreement"> & {
  index: number;
  bridge: BridgeSide["bridge"] | undefined;
  rpcUrls?: readonly string[] | undefined;
};

const DUSD = { symbol: "DUSD", slug: "dusd", decimals: 18, minimumUnits: 0n, isOrigin: true, isRail: true } as const;

/** A chain whose USDC crosses. */
export function bridgedChain(
  chain: TestChain,
  { index, bridge, rpcUrls = [chain.rpcUrl], isFast, nativeUsd, hasDusd = false, agreement }: ChainParts,
): EvmChainConfig {
  return {
    ...TEST_CHAIN_CONFIG,
    caip2: chain.caip2,
    chainId: chain.chainId,
    name: `Chain ${index}`,
    slug: `chain${index}`,
    rpcUrls,
    agreement,
    gasKey: DEV_ACCOUNTS.operator.privateKey,
    native: { ...TEST_CHAIN_CONFIG.native, usd: nativeUsd },
    estimates: { finalizedMs: isFast ? SLOW_MS : 1_000 },
    finality: [{ upToPriceUnits: undefined, finality: { confirmations: 1 } }],
    tokens: [
      {
        symbol: "USDC",
        slug: "usdc",
        address: chain.usdc.address,
        decimals: 6,
        minimumUnits: 10_000n,
        isOrigin: true,
        isRail: true,
        bridge: "cctp-v2",
      },
      ...(hasDusd ? [{ ...DUSD, address: chain.dusd.address }] : []),
    ],
    ...(bridge && { cctp: bridge }),
  };
}
