import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { countMoney } from "../../test/support/countMoney.ts";
import { openTestDatabase, thoroughDatabases } from "../../test/support/database.ts";
import { insertAccount, insertIntent, randomAddress, TEST_CHAIN } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { chainStoringNoBytes, type Refusals } from "../../test/support/storingChain.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { ProviderFailed } from "../chain/reader.ts";
import type { Db } from "../db/database.ts";
import { countDeposits } from "../deposit/countDeposits.ts";
import { processMovements } from "../deposit/processMovements.ts";
import type { IntentRow } from "../intent/store.ts";
import { addMs, systemClock } from "../kernel/clock.ts";
import { ProcessMemory } from "../kernel/processMemory.ts";
import { planSettlements } from "./planSettlements.ts";
import { replanSettlements } from "./replanSettlements.ts";
import { submitSettlements } from "./submitSettlements.ts";

const START = new Date("2026-11-01T13:00:00Z");
const [TOKEN, OTHER_TOKEN] = [randomAddress(), randomAddress()];

let txCount = 0;
const newChainTx = () => `0xcc${(txCount += 1).toString(16).padStart(62, "0")}`;

for (const kind of thoroughDatabases) {
  describe(`submitting settlements on ${kind}`, () => {
    let db: Db;
    let world: StationWorld;
    let account: string;
    let now = START;
    before(async () => {
      db = await openTestDatabase(kind);
      account = await insertAccount(db);
      await setHead(db, TEST_CHAIN, { number: 300n });
    });
    beforeEach(async () => {
      now = START;
      // The settlements of the tests before are over.
      await sql`update settlement set status = 'failed', reason = 'over' where status in ('planned','submitted','held')`.execute(
        db.root,
      );
      await sql`update deposit set status = 'held', reason = 'over', counted_units = 0, counted_at = null`.execute(
        db.root,
      );
      world = { ...stationWorld(db), clock: { ...systemClock, now: () => now }, memory: new ProcessMemory() };
    });
    after(() => db.close());

    const submit = (refusals: Refusals) =>
      submitSettlements(world, {
        chain: chainStoringNoBytes(refusals, ({ token }) => (token === OTHER_TOKEN ? "other" : "first")),
      });
    const settleAll: Refusals = async (items) => items.map(() => undefined);

    /** Plans a settlement for each of `count` new intents with counted money. */
    async function plan(count: number, token = TOKEN, price: bigint | null = null): Promise<IntentRow[]> {
      const intents: IntentRow[] = [];
      for (let index = 0; index < count; index += 1) {
        const intent = await insertIntent(db, {
          account_id: account,
          payout_token: token,
          price_units: price,
          price_token_units: price,
        });
        await recordMovements(db, intent, [{ chainTx: newChainTx(), amountUnits: 7n, block: 200n }]);
        intents.push(intent);
      }
      await processMovements(world, TEST_CHAIN);
      await countMoney(world, TEST_CHAIN);
      await planSettlements(world, TEST_CHAIN);
      return intents;
    }
    const settlementOf = ({ id }: IntentRow) =>
      db.root.selectFrom("settlement").selectAll().where("intent_id", "=", id).executeTakeFirstOrThrow();
    const statusesOf = async (intents: readonly IntentRow[]) =>
      new Set(await Promise.all(intents.map(async (intent) => (await settlementOf(intent)).status)));

    test("a provider's error delays only its own batches, and keeps their states", async () => {
      const [failing, other] = [await plan(2), await plan(2, OTHER_TOKEN)];
      let asked = 0;
      const refusals: Refusals = async (items) => {
        if (items[0]?.token !== TOKEN) return settleAll(items);
        asked += 1;
        throw new ProviderFailed("unreachable", "no answer");
      };
      assert.equal(await submit(refusals), 2);
      assert.deepEqual(
        [await statusesOf(failing), await statusesOf(other)],
        [new Set(["planned"]), new Set(["submitted"])],
      );
      const [first] = failing;
      assert.ok(first);
      const { attempts, reason, retry_at } = await settlementOf(first);
      assert.deepEqual([attempts, reason, retry_at], [0, null, addMs(now, 1_000)]);
      await submit(refusals);
      assert.equal(asked, 1);
      now = addMs(now, 1_000);
      await submit(refusals);
      assert.deepEqual([asked, (await settlementOf(first)).retry_at], [2, addMs(now, 2_000)]);
      now = addMs(now, 2_000);
      assert.equal(await submit(settleAll), 2);
    });

    test("a provider that never answers for one token does not delay the other", async () => {
      const [hanging, other] = [await plan(1), await plan(1, OTHER_TOKEN)];
      const { promise, reject } = Promise.withResolvers<(string | undefined)[]>();
      const submitted = Promise.withResolvers<void>();
      const refusals: Refusals = (items) => (items[0]?.token === TOKEN ? promise : settleAll(items));
      const call = submit(refusals);
      const poll = async () => {
        while (!(await statusesOf(other)).has("submitted")) await new Promise(setImmediate);
        submitted.resolve();
      };
      await Promise.all([poll(), submitted.promise]);
      assert.deepEqual(await statusesOf(hanging), new Set(["planned"]));
      reject(new ProviderFailed("timeout", "no answer"));
      assert.equal(await call, 1);
      now = addMs(now, 1_000);
      assert.equal(await submit(settleAll), 1);
    });

    test("hundreds of batches take few sessions at once, and a reached price goes first", async () => {
      const many = await plan(60);
      const [paid] = await plan(1, TOKEN, 7n);
      assert.ok(paid);
      const asked: string[] = [];
      let [running, runningMax] = [0, 0];
      const refusals: Refusals = async (items) => {
        asked.push(...items.map(({ inbox }) => inbox));
        runningMax = Math.max(runningMax, (running += 1));
        await settlementOf(paid);
        running -= 1;
        return settleAll(items);
      };
      const submitApart = () =>
        submitSettlements(world, { chain: chainStoringNoBytes(refusals, ({ inbox }) => inbox) });
      assert.equal(await submitApart(), 40);
      assert.ok(runningMax <= 4, String(runningMax));
      assert.equal(asked[0], paid.inbox_address);
      assert.equal(await submitApart(), 21);
      assert.deepEqual(await statusesOf(many), new Set(["submitted"]));
    });

    test("a refused settlement whose deposit a reorg dropped ends, because nobody could ever settle it", async () => {
      const [dropped, kept] = await plan(2);
      assert.ok(dropped && kept);
      const { chain_tx: chainTx } = await db.root
        .selectFrom("movement")
        .select("chain_tx")
        .where("intent_id", "=", dropped.id)
        .executeTakeFirstOrThrow();
      await recordMovements(db, dropped, [{ chainTx, amountUnits: 7n, block: 200n, orphaned: true }]);
      await processMovements(world, TEST_CHAIN);
      await submit(async (items) => items.map(() => "settle_refused nothing there"));
      const [ended, waiting] = [await settlementOf(dropped), await settlementOf(kept)];
      assert.deepEqual([ended.status, ended.reason], ["failed", "nothing_to_settle"]);
      assert.deepEqual([waiting.status, waiting.reason], ["planned", "settle_refused nothing there"]);
    });

    test("a settlement that the database refuses to submit delays no other", async () => {
      const intents = await plan(5);
      const [, , poisoned] = intents;
      assert.ok(poisoned);
      await sql
        .raw(
          `alter table settlement add constraint poison check (intent_id <> '${poisoned.id}' or status <> 'submitted')`,
        )
        .execute(db.root);
      assert.equal(await submit(settleAll), 4);
      const { status, reason, attempts } = await settlementOf(poisoned);
      assert.deepEqual([status, reason, attempts], ["planned", "internal_error", 1]);
      await sql.raw("alter table settlement drop constraint poison").execute(db.root);
      now = addMs(now, 5_000);
      assert.equal(await submit(settleAll), 1);
    });

    test("settlements that are refused each time do not hide a later one", async () => {
      const { id } = await insertIntent(db);
      await sql`
        insert into settlement (id, intent_id, chain, token, status, created_at, updated_at)
        select ${id} || n, ${id}, ${TEST_CHAIN}, 'refused' || n, 'planned', ${now}, ${now} from generate_series(1, 500) n`.execute(
        db.root,
      );
      const refuse: Refusals = async (items) =>
        items.map(({ token }) => (token.startsWith("refused") ? "refused" : undefined));
      await submit(refuse);
      const [late] = await plan(1);
      assert.ok(late);
      // After the longest wait all of them are due again, and older than the new one.
      for (let calls = 0; calls < 2 && (await settlementOf(late)).status === "planned"; calls += 1) {
        now = addMs(now, 3_600_000);
        await submit(refuse);
      }
      assert.equal((await settlementOf(late)).status, "submitted");
    });

    test("a retry that lies beyond the longest wait is due: the clock was set back", async () => {
      const [intent] = await plan(1);
      assert.ok(intent);
      await submit(async () => ["refused"]);
      assert.equal(await submit(settleAll), 0);
      now = addMs(START, -3_600_000);
      assert.equal(await submit(settleAll), 1);
    });

    test("settlements are replanned page by page, and those that wait long hide no later one", async () => {
      const { id } = await insertIntent(db);
      // Each settlement waits for a transaction of its own. Two pages wait for a block, and the last transaction
      // reverted.
      await sql`
        with sent as (
          insert into outgoing_transaction (chain, sender, status, mined_chain_tx, mined_block_number, created_at, closed_at)
          select ${TEST_CHAIN}, 'payer', case when n = 401 then 'reverted' else 'signed' end, case when n = 401 then 'reverted' end,
            case when n = 401 then 250 end, ${now}, case when n = 401 then ${now}::timestamptz end
          from generate_series(1, 401) n returning id
        )
        insert into settlement (id, intent_id, chain, token, status, outgoing_id, created_at, submitted_at, updated_at)
        select ${id} || sent.id, ${id}, ${TEST_CHAIN}, 'token' || sent.id, 'submitted', sent.id, ${now}, ${now}, ${now} from sent`.execute(
        db.root,
      );
      const replanned: number[] = [];
      for (let calls = 0; calls < 4; calls += 1) replanned.push(await replanSettlements(world, TEST_CHAIN));
      assert.deepEqual(replanned, [0, 0, 1, 0]);
      const [again, ...others] = await db.root
        .selectFrom("settlement")
        .select(["reason", "attempts"])
        .where("status", "=", "planned")
        .execute();
      assert.deepEqual([again, others], [{ reason: "transaction_reverted_without_effect", attempts: 1 }, []]);
    });
  });
}

describe("submitting settlements beside another process", () => {
  let db: Db;
  let world: StationWorld;
  before(async () => {
    db = await openTestDatabase("postgres");
    world = stationWorld(db);
    await setHead(db, TEST_CHAIN, { number: 300n });
  });
  after(() => db.close());

  test("what counts while an empty settlement ends is not forgotten", async () => {
    const intent = await insertIntent(db, { account_id: await insertAccount(db), payout_token: randomAddress() });
    const paid = { chainTx: newChainTx(), amountUnits: 7n };
    await recordMovements(db, intent, [{ ...paid, block: 200n }]);
    await processMovements(world, TEST_CHAIN);
    await countMoney(world, TEST_CHAIN);
    await planSettlements(world, TEST_CHAIN);
    // A reorganisation mines it again in the newest block, and the next block makes it final.
    await recordMovements(db, intent, [{ ...paid, block: 300n, fork: "b" }]);
    await processMovements(world, TEST_CHAIN);
    await setHead(db, TEST_CHAIN, { number: 301n });
    const [counted, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: Db = Object.create(db, {
      transaction: {
        value: (run: Parameters<Db["transaction"]>[0]) =>
          db.transaction(async (tx) => {
            const result = await run(tx);
            counted.resolve();
            await released.promise;
            return result;
          }),
      },
    });
    const counting = countDeposits({ ...world, db: slow }, TEST_CHAIN);
    await counted.promise;
    let isSubmitted = false;
    const chain = chainStoringNoBytes(async (items) => items.map(() => undefined));
    const submitting = submitSettlements(world, { chain }).finally(() => (isSubmitted = true));
    while (!isSubmitted && !(await isWaitingForRow())) continue;
    released.resolve();
    await counting;
    assert.equal(await submitting, 1);
    const holding = await db.root
      .selectFrom("holding")
      .select("unswept_units")
      .where("intent_id", "=", intent.id)
      .executeTakeFirst();
    assert.equal(holding?.unswept_units, 7n);
  });

  const isWaitingForRow = async (): Promise<boolean> => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db.root);
    return rows.length > 0;
  };
});
