import { pino, type Logger } from "pino";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openNewHeadsFeed } from "../../src/chain/evm/rpc/newHeadsFeed.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { MAX_FEE_PER_GAS_DEFAULT } from "../../src/config/knownChains.ts";
import type { EvmChainConfig, Config } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import type { DepositRow } from "../../src/deposit/deposit.ts";
import { verifyDeposits } from "../../src/deposit/verify/verifyDeposits.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent, type CreateIntentInput } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { verifySweeps } from "../../src/settlement/observe/verifySweeps.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { replanSettlements } from "../../src/settlement/replanSettlements.ts";
import type { SettlementRow } from "../../src/settlement/settlement.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { watchNow } from "./watchNow.ts";
import type { World } from "../../src/world.ts";
import { startTestChain, type TestChain } from "./chain.ts";
import { openTestDatabase, type databases } from "./database.ts";
import { assertAllChecks } from "./ledgerAssertions.ts";
import { countMoney } from "./countMoney.ts";

// The whole road over a real chain and a real database. Tests run the loops by hand, so that no test sleeps.

export type Road = {
  world: World;
  chain: TestChain;
  account: AccountRow;
  /** Runs every loop once, in the order of the stations. */
  tick(): Promise<void>;
  /** Runs until a new deposit is settled and the settlement observed. */
  settle(): Promise<void>;
  create(input?: CreateIntentInput): Promise<IntentRow>;
  pay(intent: IntentRow, amountUnits: bigint): Promise<string>;
  intent(intent: { id: string }): Promise<IntentRow>;
  deposits(intent: { id: string }): Promise<DepositRow[]>;
  settlements(intent: { id: string }): Promise<SettlementRow[]>;
  /** The balance in units of the payout token. */
  balance(address: string): Promise<bigint>;
  /** Fails when any rows of the road contradict each other. */
  close(): Promise<void>;
};

export type RoadOptions = {
  database?: (typeof databases)[number];
  feeBps?: number;
  chain?: Partial<EvmChainConfig>;
  /** Of each token of the chain; none by default. */
  minimumUnits?: bigint;
  clock?: Clock;
  /** The chain's RPC URL for the service, by default the chain's own. With it, the road starts without a first poll. */
  rpcUrl?: (chain: TestChain) => Promise<string>;
  /** Several providers instead of one, in order of preference. */
  rpcUrls?: (chain: TestChain) => Promise<readonly string[]>;
  log?: Logger;
  /** See TestChainOptions. */
  blockTimeSeconds?: number;
  /** An existing database. It closes with the road. */
  db?: Db;
  /** An existing chain, which stays open. */
  testChain?: TestChain;
  /** The URL that pushes heads; absent for none. */
  wsUrl?: (chain: TestChain) => Promise<string>;
};

/**
 * Seen → counted → submitted → landed takes four rounds. A busy machine may mine a sweep a little after its broadcast.
 */
const TICKS_MIN = 4;
const TICKS_MAX = 100;

export async function openRoad(options: RoadOptions = {}): Promise<Road> {
  const [chain, db] = await Promise.all([
    options.testChain ??
      startTestChain({ hub: HUB, ...(options.blockTimeSeconds && { blockTimeSeconds: options.blockTimeSeconds }) }),
    options.db ?? openTestDatabase(options.database ?? "postgres"),
  ]);
  const config = roadConfig(chain, options);
  const log = options.log ?? pino({ level: "silent" });
  const clock = options.clock ?? systemClock;
  const rpcUrls = (await options.rpcUrls?.(chain)) ?? [(await options.rpcUrl?.(chain)) ?? chain.rpcUrl];
  const [node, ...others] = rpcUrls.map((rpcUrl) => openEvmNode({ caip2: chain.caip2, rpcUrl, timeoutMs: 5_000 }));
  if (node === undefined) throw new Error("the road has no provider");
  const gasAccount = openGasAccount(DEV_ACCOUNTS.operator.privateKey);
  const wsUrl = await options.wsUrl?.(chain);
  const feeds = wsUrl === undefined ? [] : [openNewHeadsFeed({ caip2: chain.caip2, wsUrl, clock })];
  const maxFeePerGas = options.chain?.maxFeePerGas ?? MAX_FEE_PER_GAS_DEFAULT;
  const opened = createEvmChain({ nodes: [node, ...others], gasAccount, feeds, maxFeePerGas }, { clock, log });
  const chains = new Map([[chain.caip2, opened]]);
  const world: World = {
    config,
    db,
    clock,
    entropy: systemEntropy,
    wake: createWake(clock),
    memory: new ProcessMemory(),
    catalog: buildCatalog(config),
    chains,
    log,
  };
  const account = await createAccount(world, {
    name: "Road",
    feeBps: options.feeBps ?? 50,
    payout: {
      namespace: "eip155",
      chainReference: String(chain.chainId),
      wallet: DEV_ACCOUNTS.payoutFirst.address,
      currency: "USDC",
    },
  });

  async function tick(): Promise<void> {
    await watchNow(world, opened);
    await processMovements(world, chain.caip2);
    await countMoney(world, chain.caip2);
    await verifyDeposits(world, opened);
    await observeSettlements(world, chain.caip2);
    await verifySweeps(world, opened);
    await planSettlements(world, chain.caip2);
    await submitSettlements(world, { chain: opened });
    await opened.sender.process(world);
    await replanSettlements(world, chain.caip2);
  }

  if (options.rpcUrl === undefined) await tick();
  return {
    world,
    chain,
    account,
    tick,
    settle: async () => {
      for (let ticks = 0; ticks < TICKS_MAX && (ticks < TICKS_MIN || (await hasSubmittedSettlement(world))); ticks += 1)
        await tick();
    },
    create: async (input = {}) => (await createIntent(world.db.root, world, { account, input })).intent,
    pay: async (intent, amountUnits) =>
      (await chain.pay(chain.usdc.address, intent.inbox_address as `0x${string}`, { amountUnits })).transactionHash,
    intent: ({ id }) => db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    deposits: ({ id }) =>
      db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute(),
    settlements: ({ id }) =>
      db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).orderBy("seq").execute(),
    balance: (address) => chain.balanceOf(chain.usdc.address, address as `0x${string}`),
    close: async () => {
      try {
        await assertAllChecks(db);
      } finally {
        await db.close();
        if (options.testChain === undefined) await chain.stop();
      }
    },
  };
}

/** Whether a sweep is submitted but not yet in a block. */
async function hasSubmittedSettlement(world: World): Promise<boolean> {
  const query = world.db.root.selectFrom("settlement").select("id").where("status", "=", "submitted").limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

function roadConfig(chain: TestChain, options: RoadOptions): Config {
  const token = (asset: { symbol: string; address: string; decimals: number }) => ({
    symbol: asset.symbol,
    slug: asset.symbol.toLowerCase(),
    address: asset.address,
    decimals: asset.decimals,
    minimumUnits: options.minimumUnits ?? 0n,
    isOrigin: true,
    isRail: true,
  });
  return {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 0 },
    database: { kind: "pglite", directory: undefined },
    feeRecipient: DEV_ACCOUNTS.feeRecipient.address,
    chains: [
      {
        caip2: chain.caip2,
        chainId: chain.chainId,
        name: "Local",
        slug: "local",
        rpcUrls: [chain.rpcUrl],
        publicRpcUrl: chain.rpcUrl,
        explorerUrl: chain.rpcUrl,
        native: { name: "Ether", symbol: "ETH", decimals: 18 },
        gasKey: DEV_ACCOUNTS.operator.privateKey,
        pollMs: 100,
        finality: [{ upToPriceUnits: undefined, finality: { confirmations: 1 } }],
        settleAfterMs: 0,
        settleBatchMax: 100,
        maxFeePerGas: MAX_FEE_PER_GAS_DEFAULT,
        tokens: [token(chain.usdc), token(chain.dusd)],
        defaultToken: "USDC",
        ...options.chain,
      },
    ],
    defaultRail: "local:usdc",
    logLevel: "silent",
  };
}
