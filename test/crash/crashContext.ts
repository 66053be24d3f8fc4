import { MAX_FEE_PER_GAS_DEFAULT } from "../../src/config/knownChains.ts";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { Config } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { issueSourceInbox } from "../../src/inbox/issueSourceInbox.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { registerView } from "../../src/view/registerView.ts";
import { ScriptedChain } from "../sim/chain/scriptedChain.ts";
import { openScriptedNode } from "../sim/chain/scriptedNode.ts";
import { tokenCalls } from "../sim/chain/token.ts";
import type { CrashDatabase } from "./crashDatabase.ts";
import { CrashInjector } from "./crashInjector.ts";
import { readOutcome, outgoingTransactionsSince, type Outcome } from "./outcome.ts";
import { startProcess, type CrashableProcess, type CrashEnvironment } from "./crashableProcess.ts";

// The chain, database and account of all runs. Each run has its own intents and wallets.

const FEE_BPS = 50;
const CHAIN_ID = 31_337;
const USDC = `0x${"c0".repeat(20)}`;
const PAYER = `0x${"0a".repeat(20)}`;
const FEE_RECIPIENT = `0x${"0f".repeat(20)}`;
const GAS_KEY = `0x${"11".repeat(32)}`;
const TICK_MS = 2_000;

export type CrashContext = {
  environment: CrashEnvironment;
  chain: ScriptedChain;
  account: AccountRow;
  /** Reads the database without crash points. */
  db: Db;
  /** The failed ledger checks, by name. */
  findings(): Promise<string[]>;
  close(): Promise<void>;
};

export async function openCrashContext(database: CrashDatabase): Promise<CrashContext> {
  const chain = new ScriptedChain({
    chainId: CHAIN_ID,
    tokens: [{ address: USDC, symbol: "USDC", decimals: 6, kind: "plain", owner: PAYER }],
    units: [{ token: USDC, owner: PAYER, units: 10n ** 15n }],
    wei: [{ address: openGasAccount(GAS_KEY).address, wei: 10n ** 24n }],
  });
  chain.mine();
  const time = { nowMs: Date.parse("2026-11-21T12:00:00Z") };
  const environment = { database, config: configOf(), node: openScriptedNode(chain), time, gasKey: GAS_KEY };
  const first = await startProcess(environment, new CrashInjector());
  const wallet = `0x${"0b".repeat(20)}`;
  const account = await createAccount(first.world, {
    name: "Crash",
    feeBps: FEE_BPS,
    payout: { namespace: "eip155", chainReference: String(CHAIN_ID), wallet, currency: "USDC" },
  });
  await first.tick();
  const db = first.world.db;
  return {
    environment,
    chain,
    account,
    db,
    findings: async () => (await runLedgerChecks(db)).map(({ check }) => `ledger check: ${check}`),
    close: async () => {
      await first.close();
      await database.close();
    },
  };
}

/** Runs work in a process, and again in a new process after a crash. */
export type RunInProcess = <T>(work: (process: CrashableProcess) => Promise<T>) => Promise<T>;

/** A one-time and a repeatable intent from creation to settlement. */
export class IntentScenario {
  readonly #context: CrashContext;
  readonly #number: number;
  readonly #intents: { once: IntentRow; open: IntentRow };
  readonly #before: { outgoingId: bigint; feeUnits: bigint };

  constructor(
    context: CrashContext,
    parts: { number: number; intents: IntentScenario["intents"]; before: { outgoingId: bigint; feeUnits: bigint } },
  ) {
    this.#context = context;
    this.#number = parts.number;
    this.#intents = parts.intents;
    this.#before = parts.before;
  }

  get intents(): { once: IntentRow; open: IntentRow } {
    return this.#intents;
  }

  /** Creates both intents and pays each of them twice, in two transactions of one block. */
  static async start(context: CrashContext, runInProcess: RunInProcess, number: number): Promise<IntentScenario> {
    const { chain, account, db } = context;
    const before = {
      outgoingId: (await outgoingTransactionsSince(db, 0n)).last,
      feeUnits: chain.unitsOf(USDC, FEE_RECIPIENT),
    };
    const [walletOnce, walletOpen] = [walletOf(number, 1), walletOf(number, 2)];
    const once = await runInProcess(({ world }) =>
      create(world, account, { payoutWallet: walletOnce, priceUnits: 1_000_000 }),
    );
    const open = await runInProcess(({ world }) => create(world, account, { payoutWallet: walletOpen }));
    const transfer = (intent: IntentRow, units: bigint) => ({
      to: USDC,
      data: tokenCalls.transfer(intent.inbox_address, units),
    });
    chain.send({ from: PAYER, calls: [transfer(once, 400_000n)] });
    chain.send({ from: PAYER, calls: [transfer(open, 7_777n), transfer(once, 600_001n), transfer(open, 1n)] });
    chain.mine();
    return new IntentScenario(context, { number, intents: { once, open }, before });
  }

  /** Advances time and mines a block. */
  advanceTime(): void {
    this.#context.environment.time.nowMs += TICK_MS;
    this.#context.chain.mine();
  }

  async isFinished(): Promise<boolean> {
    const { db } = this.#context;
    const ids = Object.values(this.#intents).map((intent) => intent.id);
    const rows = await db.root
      .selectFrom("intent")
      .select(["received_units", "settled_units"])
      .where("id", "in", ids)
      .execute();
    if (rows.some((row) => row.received_units === 0n || row.settled_units !== row.received_units)) return false;
    const open = await db.root.selectFrom("outgoing_transaction").select("id").where("status", "=", "signed").execute();
    return open.length === 0;
  }

  async outcome(): Promise<Outcome> {
    const { chain, db } = this.#context;
    const outcome = await readOutcome(db, this.#intents);
    const paid = [1, 2].map((role) => chain.unitsOf(USDC, walletOf(this.#number, role)));
    const remaining = Object.values(this.#intents).map((intent) => chain.unitsOf(USDC, intent.inbox_address));
    const feeUnits = chain.unitsOf(USDC, FEE_RECIPIENT) - this.#before.feeUnits;
    outcome["transactions"] = (await outgoingTransactionsSince(db, this.#before.outgoingId)).statuses;
    outcome["on chain"] = [`paid ${paid.join(" and ")}`, `fee ${feeUnits}`, `remaining ${remaining.join(" and ")}`];
    return outcome;
  }
}

function walletOf(number: number, role: number): string {
  return `0x5${(number * 16 + role).toString(16).padStart(39, "0")}`;
}

/** The requests of a merchant's server and a payer's browser. The caller repeats them when the answer is lost. */
async function create(
  world: CrashableProcess["world"],
  account: AccountRow,
  input: { payoutWallet: string; priceUnits?: number },
): Promise<IntentRow> {
  const terms = { ...input, oneTime: input.priceUnits !== undefined };
  const { intent } = await createIntent(world.db.root, world, { account, input: terms });
  await issueSourceInbox(world, intent, { chainId: CHAIN_ID });
  await registerView(world, intent);
  return intent;
}

function configOf(): Config {
  const url = "http://127.0.0.1:1";
  return {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 0 },
    database: { kind: "pglite", directory: undefined },
    feeRecipient: FEE_RECIPIENT,
    chains: [
      {
        caip2: `eip155:${CHAIN_ID}`,
        chainId: CHAIN_ID,
        name: "Scripted",
        slug: "local",
        rpcUrls: [url],
        publicRpcUrl: url,
        explorerUrl: url,
        native: { name: "Ether", symbol: "ETH", decimals: 18 },
        gasKey: GAS_KEY,
        pollMs: 100,
        finality: [{ upToPriceUnits: undefined, finality: { confirmations: 1 } }],
        settleAfterMs: 0,
        settleBatchMax: 100,
        maxFeePerGas: MAX_FEE_PER_GAS_DEFAULT,
        tokens: [
          { symbol: "USDC", slug: "usdc", address: USDC, decimals: 6, minimumUnits: 0n, isOrigin: true, isRail: true },
        ],
        defaultToken: "USDC",
      },
    ],
    defaultRail: "local:usdc",
    logLevel: "silent",
  };
}
