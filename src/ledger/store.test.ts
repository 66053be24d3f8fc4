import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql, type RawBuilder } from "kysely";
import { thoroughDatabases, openTestDatabase } from "../../test/support/database.ts";
import { waitUntilBlocked } from "../../test/support/waitUntilBlocked.ts";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { runChecks } from "./check.ts";
import { ledgerChecks } from "./checks.ts";
import { postTransfers, reversePostings } from "./store.ts";

const CHAIN = "eip155:31337";
const ASSET = `${CHAIN}/erc20:0xc0de`;
const AT = new Date("2026-11-01T12:00:00Z");

type Transfer = { reference: string; version?: bigint; inbox: string; counter: string; change: bigint };

/** A TransferQuery of these transfers, in their order. */
function transferQuery(transfers: readonly Transfer[]): RawBuilder<unknown> {
  return sql`
    select reference, version, null::bigint as reverses, 'inbox:' || inbox as custody, counter, ${ASSET}::text as asset,
      change as change_units, ${CHAIN}::text as chain, '0xaa'::text as chain_tx, 7::bigint as block_number, place
    from unnest(
      ${array(
        transfers.map((transfer) => transfer.reference),
        "text",
      )}, ${array(
        transfers.map((transfer) => transfer.version ?? 1n),
        "int8",
      )}, ${array(
        transfers.map((transfer) => transfer.inbox),
        "text",
      )}, ${array(
        transfers.map((transfer) => transfer.counter),
        "text",
      )}, ${array(
        transfers.map((transfer) => transfer.change),
        "numeric",
      )}) with ordinality as input (reference, version, inbox, counter, change, place)`;
}

for (const kind of thoroughDatabases) {
  describe(`the ledger on ${kind}`, () => {
    let db: Db;
    let unique = 0;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(async () => {
      deepEqual(await runChecks(db, ledgerChecks), []);
      await db.close();
    });

    const newInbox = (): string => `pi_${(unique += 1)}`;
    const inflow = (inbox: string, change: bigint): Transfer => ({
      reference: `fact:${(unique += 1)}`,
      inbox,
      counter: "payer:world",
      change,
    });
    const outflow = (inbox: string, change: bigint): Transfer => ({
      ...inflow(inbox, -change),
      counter: "payout:world",
    });
    const bookAll = (...transfers: Transfer[]) =>
      db.transaction((tx) => postTransfers(tx, { transfers: transferQuery(transfers), name: "book_given", at: AT }));
    const reverseAll = (...transfers: Transfer[]) =>
      db.transaction((tx) => {
        const references = sql`select unnest(${array(
          transfers.map((transfer) => transfer.reference),
          "text",
        )})`;
        return reversePostings(tx, { references, at: AT });
      });
    async function entriesOf(inbox: string): Promise<[account: string, units: bigint][][]> {
      const rows = await db.root
        .selectFrom("ledger_entry")
        .innerJoin("ledger_posting", "ledger_posting.id", "ledger_entry.posting_id")
        .select(["posting_id", "account", "amount_units"])
        .where("custody", "=", `inbox:${inbox}`)
        .orderBy("posting_id")
        .orderBy("place")
        .execute();
      return [...Map.groupBy(rows, (row) => row.posting_id).values()].map((posting) =>
        posting.map((row): [string, bigint] => [row.account, row.amount_units]),
      );
    }
    async function balancesOf(inbox: string): Promise<Record<string, bigint>> {
      const rows = await db.root
        .selectFrom("ledger_balance")
        .select(["account", "balance_units"])
        .where("holder", "=", `inbox:${inbox}`)
        .where("balance_units", "<>", 0n)
        .execute();
      return Object.fromEntries(rows.map((row) => [row.account, row.balance_units]));
    }
    const assertRefused = (statement: RawBuilder<unknown>, reason: RegExp) =>
      rejects(
        db.transaction(async (tx) => statement.execute(tx)),
        reason,
      );
    /** Inserts a posting with arbitrary entries, past the store. */
    function insertRaw(
      lines: readonly (readonly [place: number, account: string, units: string, asset?: string])[],
      header: { count?: number; reference?: string; version?: number; reverses?: bigint | null; custody?: string } = {},
    ): RawBuilder<unknown> {
      const {
        count = lines.length,
        reference = newInbox(),
        version = 1,
        reverses = null,
        custody = "inbox:pi_hand",
      } = header;
      return sql`
        with posted as (
          insert into ledger_posting (reference, version, reverses, custody, chain, chain_tx, block_number, entry_count, booked_at)
          values (${reference}, ${version}, ${reverses}, ${custody}, ${CHAIN}, '0xbb', 1, ${count}, ${AT}) returning id
        )
        insert into ledger_entry (posting_id, place, account, asset, amount_units)
        select posted.id, line.place, line.account, line.asset, line.units from posted, unnest(
          ${array(
            lines.map(([place]) => place),
            "int4",
          )}, ${array(
            lines.map(([, account]) => account),
            "text",
          )}, ${array(
            lines.map(([, , units]) => units),
            "numeric",
          )}, ${array(
            lines.map(([, , , asset = ASSET]) => asset),
            "text",
          )}) as line (place, account, units, asset)`;
    }

    test("a deposit adds to the inbox, and a payout moves it to the other end", async () => {
      const inbox = newInbox();
      await bookAll(inflow(inbox, 10n), outflow(inbox, 9n), { ...outflow(inbox, 1n), counter: "fee:platform" });
      deepEqual(await entriesOf(inbox), [
        [
          ["payer:world", -10n],
          [`inbox:${inbox}`, 10n],
        ],
        [
          ["payout:world", 9n],
          [`inbox:${inbox}`, -9n],
        ],
        [
          ["fee:platform", 1n],
          [`inbox:${inbox}`, -1n],
        ],
      ]);
      deepEqual(await balancesOf(inbox), {});
    });

    test("an outflow above the balance is booked as unseen, and later inflows fill that first", async () => {
      const inbox = newInbox();
      await bookAll(inflow(inbox, 4n), outflow(inbox, 10n));
      deepEqual(await balancesOf(inbox), { [`unseen:${CHAIN}`]: -6n });
      await bookAll(inflow(inbox, 5n));
      deepEqual(await balancesOf(inbox), { [`unseen:${CHAIN}`]: -1n });
      await bookAll(inflow(inbox, 3n));
      deepEqual(await balancesOf(inbox), { [`inbox:${inbox}`]: 2n });
    });

    test("a reversed deposit that was already paid out is a loss until it is mined again", async () => {
      const inbox = newInbox();
      const [paid, swept] = [inflow(inbox, 10n), outflow(inbox, 10n)];
      await bookAll(paid, swept);
      equal(await reverseAll(paid), 1);
      deepEqual(await balancesOf(inbox), { "loss:reorg": -10n });
      await bookAll({ ...paid, version: 2n });
      deepEqual(await balancesOf(inbox), {});
    });

    test("both kinds of shortage are booked apart and filled one after the other", async () => {
      const inbox = newInbox();
      const first = inflow(inbox, 5n);
      await bookAll(first, outflow(inbox, 5n));
      await reverseAll(first);
      await bookAll(outflow(inbox, 2n));
      deepEqual(await balancesOf(inbox), { "loss:reorg": -5n, [`unseen:${CHAIN}`]: -2n });
      await bookAll(inflow(inbox, 6n), inflow(inbox, 3n));
      deepEqual(await balancesOf(inbox), { [`inbox:${inbox}`]: 2n });
    });

    test("a reversal mirrors its posting, and happens once", async () => {
      const inbox = newInbox();
      const all = [inflow(inbox, 7n), outflow(inbox, 7n), inflow(inbox, 1n)];
      await bookAll(...all);
      equal(await reverseAll(...all), 3);
      deepEqual(await balancesOf(inbox), {});
      equal(await reverseAll(...all), 0);
    });

    test("a booked reference is not booked again, and a version never twice", async () => {
      const paid = inflow(newInbox(), 1n);
      await bookAll(paid);
      await rejects(bookAll(paid), /duplicate key/);
      await rejects(bookAll({ ...paid, version: 2n }), /books again what stands/);
    });

    test("entries that do not sum to zero in each asset are refused", async () => {
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5"],
          [2, "inbox:pi_hand", "4"],
        ]),
        /not whole/,
      );
      const other = `${CHAIN}/erc20:0xbeef`;
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5"],
          [2, "inbox:pi_hand", "5", other],
        ]),
        /not whole/,
      );
    });

    test("a posting with fewer than two entries, with none, or with a wrong entry_count is refused", async () => {
      await assertRefused(insertRaw([[1, "payer:world", "0"]]), /check constraint/);
      await assertRefused(
        insertRaw(
          [
            [1, "payer:world", "-5"],
            [2, "inbox:pi_hand", "5"],
          ],
          { count: 3 },
        ),
        /not whole/,
      );
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5"],
          [3, "inbox:pi_hand", "5"],
        ]),
        /not whole/,
      );
      await assertRefused(insertRaw([], { count: 2 }), /has no entries/);
    });

    test("entries added later or without a posting are refused", async () => {
      await bookAll(inflow(newInbox(), 1n));
      const later = (id: RawBuilder<unknown>) => sql`
        insert into ledger_entry (posting_id, place, account, asset, amount_units)
        values (${id}, 3, 'payer:world', ${ASSET}, -1), (${id}, 4, 'payout:world', ${ASSET}, 1)`;
      await assertRefused(later(sql`(select max(id) from ledger_posting)`), /not whole/);
      await assertRefused(later(sql`999999`), /not whole/);
    });

    test("the balance of an inbox never goes negative", async () => {
      await assertRefused(
        insertRaw([
          [1, "payout:world", "5"],
          [2, "inbox:pi_hand", "-5"],
        ]),
        /ledger_balance_custody/,
      );
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5"],
          [2, "loss:reorg", "5"],
        ]),
        /ledger_balance_missing/,
      );
    });

    test("malformed accounts and assets, and entries of another inbox, are refused", async () => {
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5"],
          [2, "inbox:", "5"],
        ]),
        /check constraint/,
      );
      await assertRefused(
        insertRaw([
          [1, "petty:cash", "-5"],
          [2, "inbox:pi_hand", "5"],
        ]),
        /check constraint/,
      );
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5", "USDC"],
          [2, "inbox:pi_hand", "5", "USDC"],
        ]),
        /check constraint/,
      );
      await assertRefused(
        insertRaw([
          [1, "payer:world", "-5"],
          [2, "inbox:pi_other", "5"],
        ]),
        /not its own/,
      );
    });

    test("a reversal mirrors one whole posting, and happens once", async () => {
      const inbox = newInbox();
      const custody = `inbox:${inbox}`;
      const paid = inflow(inbox, 5n);
      await bookAll(paid);
      const { rows } = await sql<{ id: bigint }>`select max(id) as id from ledger_posting`.execute(db.root);
      const reverses = rows[0]?.id ?? 0n;
      const reference = `reversal:${reverses}`;
      const half = [
        [1, "payer:world", "4"],
        [2, custody, "-4"],
      ] as const;
      const whole = [
        [1, "payer:world", "5"],
        [2, custody, "-5"],
      ] as const;
      await assertRefused(insertRaw(half, { reverses, reference, custody }), /not the reversal/);
      await assertRefused(insertRaw(whole, { reverses, custody }), /check constraint/);
      await assertRefused(
        insertRaw(whole, { reverses: 999_999n, reference: "reversal:999999", custody }),
        /foreign key|not the reversal/,
      );
      await insertRaw(whole, { reverses, reference, custody }).execute(db.root);
      await assertRefused(insertRaw(whole, { reverses, reference, custody }), /duplicate key/);
      await bookAll({ ...paid, version: 2n });
    });

    test("updates, deletes and truncates of the ledger and writes to balances are refused", async () => {
      for (const table of ["ledger_posting", "ledger_entry"]) {
        const column = table === "ledger_entry" ? "asset" : "chain";
        await assertRefused(sql.raw(`update ${table} set ${column} = 'x'`), /only ever added to/);
        await assertRefused(sql.raw(`delete from ${table}`), /only ever added to/);
        await assertRefused(sql.raw(`truncate ${table} cascade`), /only ever added to/);
      }
      await assertRefused(sql`update ledger_balance set balance_units = 0`, /drawn from entries/);
      await assertRefused(sql`delete from ledger_balance`, /drawn from entries/);
      await assertRefused(
        sql`insert into ledger_balance values ('inbox:x', ${ASSET}, 'inbox:x', 5)`,
        /drawn from entries/,
      );
    });

    test("2^256-1 units are booked in and out exactly", async () => {
      const inbox = newInbox();
      const unitsMax = 2n ** 256n - 1n;
      await bookAll(inflow(inbox, unitsMax), outflow(inbox, unitsMax - 1n));
      deepEqual(await balancesOf(inbox), { [`inbox:${inbox}`]: 1n });
    });
  });
}

test("two concurrent outflows of one inbox cannot both use the same balance", async (context) => {
  const db = await openTestDatabase("postgres");
  context.after(() => db.close());
  const postOne = (tx: Tx, reference: string, change: bigint) =>
    postTransfers(tx, {
      transfers: transferQuery([
        { reference, inbox: "pi_1", counter: change > 0n ? "payer:world" : "payout:world", change },
      ]),
      name: "book_given",
      at: AT,
    });
  await db.transaction((tx) => postOne(tx, "in", 10n));
  const booked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const first = db.transaction(async (tx) => {
    await postOne(tx, "first", -10n);
    booked.resolve();
    await released.promise;
  });
  await booked.promise;
  const second = db
    .transaction((tx) => postOne(tx, "second", -10n))
    .then(
      () => "booked",
      (error: unknown) => String(error),
    );
  await waitUntilBlocked(db.root);
  released.resolve();
  await first;
  match(await second, /ledger_balance_custody/);
  deepEqual(await runChecks(db, ledgerChecks), []);
});
