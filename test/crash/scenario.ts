import { openGasAccount } from "../../src/chain/evm/gasAccount.ts";
import type { Config } from "../../src/config.ts";
import type { Db } from "../../src/db/database.ts";
import { issueSourceInbox } from "../../src/inbox/issueSourceInbox.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { recordView } from "../../src/view/recordView.ts";
import { ScriptedChain } from "../sim/chain/scriptedChain.ts";
import { openScriptedDriver } from "../sim/chain/scriptedDriver.ts";
import { tokenCalls } from "../sim/chain/token.ts";
import type { CrashSite } from "./databases.ts";
import { Fuse, type End } from "./fuse.ts";
import { startProcess, type Process, type Surroundings } from "./process.ts";
import { outcomeOf, sendingsSince, type Outcome } from "./outcome.ts";

// One walk down the whole road: a one-time and a repeatable intent are created, paid, seen, counted, swept with a fee, and landed for good.
// A process may end anywhere on the way; another one is started, and does what is left.

export const FEE_BPS = 50;
const CHAIN_ID = 31_337;
const USDC = `0x${"c0".repeat(20)}`;
const PAYER = `0x${"0a".repeat(20)}`;
const FEE_RECIPIENT = `0x${"0f".repeat(20)}`;
const GAS_KEY = `0x${"11".repeat(32)}`;
const TURN_MS = 2_000;
/** From payment to the close of the sweep's sending it takes about six turns; a put-off retry takes a few more. */
const TURNS_MAX = 60;

export type Walk = {
  outcome: Outcome;
  /** Where processes ended; undefined when none came that far. */
  endedAt: string | undefined;
};

export type Scenario = {
  /** Each process but the last one has its end. */
  walk(...ends: End[]): Promise<Walk>;
  /** A process to whom nothing special happens but its end. */
  begin(end: End): Promise<Process>;
  close(): Promise<void>;
};

/** A chain and an account on a database; each walk is about intents and wallets of its own. */
export async function openScenario(site: CrashSite): Promise<Scenario> {
  const chain = new ScriptedChain({
    chainId: CHAIN_ID,
    tokens: [{ address: USDC, symbol: "USDC", decimals: 6, kind: "plain", owner: PAYER }],
    units: [{ token: USDC, owner: PAYER, units: 10n ** 15n }],
    wei: [{ address: openGasAccount(GAS_KEY).address, wei: 10n ** 24n }],
  });
  chain.mine();
  const time = { nowMs: Date.parse("2026-11-21T12:00:00Z") };
  const around = { site, config: configOf(), driver: openScriptedDriver(chain), time, gasKey: GAS_KEY };
  const first = await startProcess(around, new Fuse());
  const account = await createAccount(first.world, {
    name: "Crash",
    feeBps: FEE_BPS,
    payout: {
      namespace: "eip155",
      chainReference: String(CHAIN_ID),
      wallet: `0x${"0b".repeat(20)}`,
      currency: "USDC",
    },
  });
  await first.turn();
  let walks = 0;
  return {
    walk: (...ends) => walkOnce({ around, chain, account, number: (walks += 1), reader: first.world.db }, ends),
    begin: (end) => startProcess(around, new Fuse(end)),
    close: async () => {
      await first.drop();
      await site.close();
    },
  };
}

type Walking = { around: Surroundings; chain: ScriptedChain; account: AccountRow; number: number; reader: Db };

async function walkOnce(walking: Walking, ends: readonly End[]): Promise<Walk> {
  const { around, chain, account, number, reader } = walking;
  const walletOf = (role: number) => `0x${(number * 16 + role).toString(16).padStart(40, "5")}`;
  const { last: sendingBefore } = await sendingsSince(reader, 0n);
  const feeBefore = chain.unitsOf(USDC, FEE_RECIPIENT);
  const lives = new Lives(around, ends);

  const once = await lives.do(({ world }) =>
    create(world, account, { payoutWallet: walletOf(1), priceUnits: 1_000_000 }),
  );
  const open = await lives.do(({ world }) => create(world, account, { payoutWallet: walletOf(2) }));
  const transfer = (intent: IntentRow, units: bigint) => ({
    to: USDC,
    data: tokenCalls.transfer(intent.inbox_address, units),
  });
  chain.send({ from: PAYER, calls: [transfer(once, 400_000n)] });
  chain.send({ from: PAYER, calls: [transfer(open, 7_777n), transfer(once, 600_001n), transfer(open, 1n)] });
  chain.mine();
  const intents = [once, open];
  for (let turns = 0; !(await isOver(reader, intents)); turns += 1) {
    if (turns === TURNS_MAX) throw new Error(`not settled after ${turns} turns: ended ${lives.endedAt}`);
    await lives.do((process) => process.turn());
    around.time.nowMs += TURN_MS;
    chain.mine();
  }
  await lives.do((process) => process.turn());
  await lives.end();

  const outcome = await outcomeOf(reader, { once, open });
  const paid = { once: chain.unitsOf(USDC, walletOf(1)), open: chain.unitsOf(USDC, walletOf(2)) };
  const left = intents.map((intent) => chain.unitsOf(USDC, intent.inbox_address));
  const fee = chain.unitsOf(USDC, FEE_RECIPIENT) - feeBefore;
  outcome["sendings"] = (await sendingsSince(reader, sendingBefore)).statuses;
  outcome["on chain"] = [`paid ${paid.once} and ${paid.open}`, `fee ${fee}`, `left ${left.join(" and ")}`];
  return { outcome, endedAt: lives.endedAt };
}

/** What a merchant's server and a payer's browser ask for; asked again when the answer was lost. */
async function create(
  world: Process["world"],
  account: AccountRow,
  input: { payoutWallet: string; priceUnits?: number },
): Promise<IntentRow> {
  const terms = { ...input, oneTime: input.priceUnits !== undefined };
  const { intent } = await createIntent(world.db.read, world, { account, input: terms });
  await issueSourceInbox(world, intent, { chainId: CHAIN_ID });
  await recordView(world, intent);
  return intent;
}

/** One process after another, each started when the one before is over. */
class Lives {
  readonly #around: Surroundings;
  readonly #ends: readonly End[];
  readonly #endedAt: string[] = [];
  #fuse: Fuse;
  #process: Process | undefined;

  constructor(around: Surroundings, ends: readonly End[]) {
    this.#around = around;
    this.#ends = ends;
    this.#fuse = new Fuse(ends[0]);
  }

  get endedAt(): string | undefined {
    return this.#endedAt.length === 0 ? undefined : this.#endedAt.join(", then ");
  }

  /** Does something, and once more in a new process when the one that did it ended meanwhile. */
  async do<T>(work: (process: Process) => Promise<T>): Promise<T> {
    for (let lives = 0; lives <= this.#ends.length; lives += 1) {
      this.#process ??= await startProcess(this.#around, this.#fuse);
      const answer = await work(this.#process).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      if (!this.#fuse.isBlown) {
        if ("error" in answer) throw answer.error;
        return answer.value;
      }
      // Even an answer that seems to have come: nobody is there any more who could have heard it.
      await this.end();
    }
    throw new Error("more processes ended than were to end");
  }

  async end(): Promise<void> {
    if (this.#fuse.blownAt !== undefined) this.#endedAt.push(this.#fuse.blownAt);
    await this.#process?.drop();
    this.#process = undefined;
    this.#fuse = new Fuse(this.#ends[this.#endedAt.length]);
  }
}

async function isOver(db: Db, intents: readonly IntentRow[]): Promise<boolean> {
  const rows = await db.read
    .selectFrom("intent")
    .select(["received_units", "settled_units"])
    .where(
      "id",
      "in",
      intents.map((intent) => intent.id),
    )
    .execute();
  if (rows.some((row) => row.received_units === 0n || row.settled_units !== row.received_units)) return false;
  const open = await db.read.selectFrom("sending").select("id").where("status", "=", "signed").execute();
  return open.length === 0;
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
