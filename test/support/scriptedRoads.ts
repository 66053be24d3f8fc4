import { pino } from "pino";
import type { Hex } from "viem";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { CctpV2Contracts, Config, EvmChainConfig, FinalityTier } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { verifyDeposits } from "../../src/deposit/verify/verifyDeposits.ts";
import { verifySweeps } from "../../src/settlement/observe/verifySweeps.ts";
import { verifyDust } from "../../src/deposit/verify/verifyDust.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { replanSettlements } from "../../src/settlement/replanSettlements.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import type { World } from "../../src/world.ts";
import { createBridges } from "../sim/chain/bridge.ts";
import { ScriptedChain, type TransactionRequest } from "../sim/chain/scriptedChain.ts";
import { ScriptedNode } from "../sim/chain/scriptedNode.ts";
import { countMoney } from "./countMoney.ts";
import { TEST_CHAIN_CONFIG, stationWorld } from "./stationWorld.ts";

// Several chains in memory that a bridge joins, with all stations of the service. Tests run each chain's stations by
// hand, in any order.

const PAYER = `0x${"a1".repeat(20)}`;
const OWNER = `0x${"0e".repeat(20)}`;
const GAS_KEY = `0x${"11".repeat(32)}` as const;
const FIRST_CHAIN_ID = 31_337;
const UNITS = 10n ** 40n;
const BLOCK_MS = 2_000;

export type RoadChainOptions = {
  finality?: readonly FinalityTier[];
  /** The distance of the finalized block from the head. */
  finalized?: number;
  /** Of the token that the bridge carries. */
  minimumUnits?: bigint;
  agreement?: EvmChainConfig["agreement"];
  /** Of a second rail, without a bridge. */
  coin?: { decimals: number; minimumUnits: bigint };
  providers?: number;
};

/** One chain with its service. */
export type RoadChain = {
  readonly chain: Chain;
  readonly scripted: ScriptedChain;
  readonly usdc: string;
  readonly coin: string;
  /** Puts a payment into the next block. */
  pay(intent: Pick<IntentRow, "inbox_address">, units: bigint, token?: string): string;
  send(request: TransactionRequest): string;
  /** Mines blocks without telling the service. */
  mine(blocks?: number): void;
  /** Records the chain's new blocks, and nothing else. */
  watch(): Promise<void>;
  /** Runs the deposit station. */
  decide(): Promise<void>;
  /** Runs the settlement station, and the sender. */
  settle(): Promise<void>;
  /** Mines one block at a time, with all stations after each. */
  advance(blocks: number): Promise<void>;
};

export type ScriptedRoads = {
  readonly world: World;
  readonly chains: readonly RoadChain[];
  readonly alarms: readonly Record<string, unknown>[];
  readonly account: AccountRow;
  create(input?: CreateIntentInput): Promise<IntentRow>;
  intent(intent: Pick<IntentRow, "id">): Promise<IntentRow>;
  passTime(durationMs: number): void;
};

/** The first chain is the account's default payout. */
export async function openScriptedRoads(
  db: Db,
  { chains: options, toleranceBps = 0 }: { chains: readonly RoadChainOptions[]; toleranceBps?: number },
): Promise<ScriptedRoads> {
  const bridges = createBridges(options.map((_, index) => bridgeSide(index)));
  const scripted = options.map(({ finalized = 64, coin }, index) => openChain(index, { finalized, coin, bridges }));
  const alarms: Record<string, unknown>[] = [];
  const log = pino(
    { level: "warn" },
    {
      write: (line: string) => {
        const entry = JSON.parse(line) as Record<string, unknown>;
        if (entry["alarm"] !== undefined) alarms.push(entry);
      },
    },
  );
  const station = stationWorld(db);
  const config: Config = {
    ...station.config,
    chains: scripted.map((chain, index) => chainConfig(chain, options[index] ?? {})),
    bridge: { attestationUrl: "http://attestation", fastFeePpmMax: 500 },
    defaultRail: "chain0:usdc",
  };
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    now: () => addMs(systemClock.now(), aheadMs),
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const gasAccount = openGasAccount(GAS_KEY);
  const opened = scripted.map((chain, index): Chain => {
    const others = Array.from({ length: (options[index]?.providers ?? 1) - 1 });
    const nodes = [
      new ScriptedNode(chain, { name: "first" }),
      ...others.map((_, other) => new ScriptedNode(chain, { name: `other ${other}` })),
    ] as const;
    return createEvmChain({ nodes, gasAccount, transmitter: chain.bridge?.transmitter as Hex }, { clock, log });
  });
  const world: World = {
    ...station,
    config,
    clock,
    log,
    wake: createWake(clock),
    catalog: buildCatalog(config),
    chains: new Map(opened.map((chain) => [chain.caip2, chain])),
  };
  const payout = {
    namespace: "eip155",
    chainReference: String(FIRST_CHAIN_ID),
    wallet: addressOf(0xd1),
    currency: "USDC",
  } as const;
  const account = await createAccount(world, {
    name: "Merchant",
    payout,
    feeBps: 0,
    underpayToleranceBps: toleranceBps,
  });
  const passTime = (durationMs: number) => {
    aheadMs += durationMs;
  };
  const chains = scripted.map((chain, index) => roadChain(world, { chain: opened[index], scripted: chain, passTime }));
  for (const chain of chains) await chain.watch();
  return {
    world,
    chains,
    alarms,
    account,
    passTime,
    create: async (input = {}) => (await createIntent(db.root, world, { account, input })).intent,
    intent: ({ id }) => db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
  };
}

type RoadChainParts = { chain: Chain | undefined; scripted: ScriptedChain; passTime: (durationMs: number) => void };

function roadChain(world: World, { chain, scripted, passTime }: RoadChainParts): RoadChain {
  if (chain === undefined) throw new Error("the chain is not open");
  const { caip2 } = chain;
  const usdc = tokenAddress(scripted.chainId, 0);
  const mine = (blocks = 1) => {
    for (let block = 0; block < blocks; block += 1) scripted.mine();
    passTime(blocks * BLOCK_MS);
  };
  const watch = async () => {
    while ((await watchChain(world, chain)).isBehind);
  };
  const decide = async () => {
    while (!(await processMovements(world, caip2)).isDone);
    await countMoney(world, caip2);
    await verifyDeposits(world, chain);
    await verifyDust(world, chain);
  };
  const settle = async () => {
    while (!(await observeSettlements(world, caip2)).isDone);
    await verifySweeps(world, chain);
    await planSettlements(world, caip2);
    await submitSettlements(world, { chain });
    await chain.sender.process(world);
    await replanSettlements(world, caip2);
  };
  return {
    chain,
    scripted,
    usdc,
    coin: tokenAddress(scripted.chainId, 1),
    pay: ({ inbox_address: to }, units, token = usdc) => scripted.pay({ token, from: PAYER, to, units }),
    send: (request) => scripted.send(request),
    mine,
    watch,
    decide,
    settle,
    advance: async (blocks) => {
      for (let block = 0; block < blocks; block += 1) {
        mine();
        await watch();
        await decide();
        await settle();
      }
    },
  };
}

function addressOf(number: number): `0x${string}` {
  return `0x${number.toString(16).padStart(4, "0").repeat(10)}`;
}

function tokenAddress(chainId: number, index: number): `0x${string}` {
  return addressOf(0xc000 + (chainId % 16) * 16 + index);
}

function bridgeSide(index: number): Parameters<typeof createBridges>[0][number] {
  return {
    messenger: addressOf(0xe000 + index),
    transmitter: addressOf(0xe100 + index),
    minter: addressOf(0xe200 + index),
    feeRecipient: addressOf(0xe300 + index),
    token: tokenAddress(FIRST_CHAIN_ID + index, 0),
    owner: OWNER,
  };
}

type ChainParts = {
  finalized: number;
  coin: RoadChainOptions["coin"];
  bridges: ReturnType<typeof createBridges>;
};

function openChain(index: number, { finalized, coin, bridges }: ChainParts): ScriptedChain {
  const chainId = FIRST_CHAIN_ID + index;
  const plain = { kind: "plain", owner: OWNER } as const;
  const [usdc, other] = [tokenAddress(chainId, 0), tokenAddress(chainId, 1)];
  return new ScriptedChain({
    chainId,
    bridge: bridges[index],
    tokens: [
      { ...plain, address: usdc, symbol: "USDC", decimals: 6, minter: addressOf(0xe200 + index) },
      ...(coin ? [{ ...plain, address: other, symbol: "COIN", decimals: coin.decimals }] : []),
    ],
    units: [usdc, ...(coin ? [other] : [])].map((token) => ({ token, owner: PAYER, units: UNITS })),
    wei: [{ address: openGasAccount(GAS_KEY).address, wei: UNITS }],
    finalityLag: { safe: Math.ceil(finalized / 2), finalized },
  });
}

function chainConfig(chain: ScriptedChain, options: RoadChainOptions): EvmChainConfig {
  const { finality, minimumUnits = 0n, agreement, coin } = options;
  const common = { isOrigin: true, isRail: true };
  const usdc = tokenAddress(chain.chainId, 0);
  const slug = `chain${chain.chainId - FIRST_CHAIN_ID}`;
  return {
    ...TEST_CHAIN_CONFIG,
    caip2: chain.caip2,
    chainId: chain.chainId,
    name: slug,
    slug,
    gasKey: GAS_KEY,
    finality: finality ?? TEST_CHAIN_CONFIG.finality,
    ...(agreement && { agreement }),
    tokens: [
      { ...common, symbol: "USDC", slug: "usdc", address: usdc, decimals: 6, minimumUnits, bridge: "cctp-v2" },
      ...(coin ? [{ ...common, ...coin, symbol: "COIN", slug: "coin", address: tokenAddress(chain.chainId, 1) }] : []),
    ],
    cctp: chain.bridge as CctpV2Contracts,
    estimates: { finalizedMs: 10_000 },
  };
}
