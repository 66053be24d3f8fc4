import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql, type RawBuilder } from "kysely";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { runChecks } from "./check.ts";
import { ledgerChecks } from "./checks.ts";
import { postTransfers, reversePostings } from "./store.ts";

const CHAIN = "eip155:31337";
const ASSET = `${CHAIN}/erc20:0xc0de`;
const AT = new Date("2026-11-01T12:00:00Z");

type Transfer = { reference: string; version?: bigint; inbox: string; counter: string; change: bigint };

/** Transfers as a query says them, in the order in which they are given. */
function transferQuery(transfers: readonly Transfer[]): RawBuilder<unknown> {
  return sql`
    select reference, version, null::bigint as reverses, 'inbox:' || inbox as custody, counter, ${ASSET}::text as asset,
      change as change_units, ${CHAIN}::text as chain, '0xaa'::text as chain_tx, 7::bigint as block_number, place
    from unnest(
      ${array(
        transfers.map((one) => one.reference),
        "text",
      )}, ${array(
        transfers.map((one) => one.version ?? 1n),
        "int8",
      )}, ${array(
        transfers.map((one) => one.inbox),
        "text",
      )}, ${array(
        transfers.map((one) => one.counter),
        "text",
      )}, ${array(
        transfers.map((one) => one.change),
        "numeric",
      )}) with ordinality as given (reference, version, inbox, counter, change, place)`;
}

for (const kind of databases) {
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

    const fresh = (): string => `pi_${(unique += 1)}`;
    const comesIn = (inbox: string, change: bigint): Transfer => ({
      reference: `fact:${(unique += 1)}`,
      inbox,
      counter: "payer:world",
      change,
    });
    const goesOut = (inbox: string, change: bigint): Transfer => ({
      ...comesIn(inbox, -change),
      counter: "payout:world",
    });
    const bookAll = (...transfers: Transfer[]) =>
      db.transaction((tx) => postTransfers(tx, { transfers: transferQuery(transfers), name: "book_given", at: AT }));
    const reverseAll = (...transfers: Transfer[]) =>
      db.transaction((tx) => {
        const references = sql`select unnest(${array(
          transfers.map((one) => one.reference),
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
    const refused = (statement: RawBuilder<unknown>, reason: RegExp) =>
      rejects(
        db.transaction(async (tx) => statement.execute(tx)),
        reason,
      );
    /** A posting with entries as somebody might write them by hand. */
    function byHand(
      lines: readonly (readonly [place: number, account: string, units: string, asset?: string])[],
      header: { count?: number; reference?: string; version?: number; reverses?: bigint | null; custody?: string } = {},
    ): RawBuilder<unknown> {
      const {
        count = lines.length,
        reference = fresh(),
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

    test("money that comes in is the inbox's, and what goes out is somebody else's", async () => {
      const inbox = fresh();
      await bookAll(comesIn(inbox, 10n), goesOut(inbox, 9n), { ...goesOut(inbox, 1n), counter: "fee:platform" });
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

    test("82 more than came in is taken from what nobody saw, and what is found later fills that first", async () => {
      const inbox = fresh();
      await bookAll(comesIn(inbox, 4n), goesOut(inbox, 10n));
      deepEqual(await balancesOf(inbox), { [`unseen:${CHAIN}`]: -6n });
      await bookAll(comesIn(inbox, 5n));
      deepEqual(await balancesOf(inbox), { [`unseen:${CHAIN}`]: -1n });
      await bookAll(comesIn(inbox, 3n));
      deepEqual(await balancesOf(inbox), { [`inbox:${inbox}`]: 2n });
    });

    test("61 a reorganisation that takes back what was paid out already is a loss until it is mined again", async () => {
      const inbox = fresh();
      const [paid, swept] = [comesIn(inbox, 10n), goesOut(inbox, 10n)];
      await bookAll(paid, swept);
      equal(await reverseAll(paid), 1);
      deepEqual(await balancesOf(inbox), { "loss:reorg": -10n });
      await bookAll({ ...paid, version: 2n });
      deepEqual(await balancesOf(inbox), {});
    });

    test("both causes of a shortage are kept apart and filled one after the other", async () => {
      const inbox = fresh();
      const first = comesIn(inbox, 5n);
      await bookAll(first, goesOut(inbox, 5n));
      await reverseAll(first);
      await bookAll(goesOut(inbox, 2n));
      deepEqual(await balancesOf(inbox), { "loss:reorg": -5n, [`unseen:${CHAIN}`]: -2n });
      await bookAll(comesIn(inbox, 6n), comesIn(inbox, 3n));
      deepEqual(await balancesOf(inbox), { [`inbox:${inbox}`]: 2n });
    });

    test("reversing goes back the way that was booked, and once", async () => {
      const inbox = fresh();
      const all = [comesIn(inbox, 7n), goesOut(inbox, 7n), comesIn(inbox, 1n)];
      await bookAll(...all);
      equal(await reverseAll(...all), 3);
      deepEqual(await balancesOf(inbox), {});
      equal(await reverseAll(...all), 0);
    });

    test("what stands is not booked again, and a wording never twice", async () => {
      const paid = comesIn(fresh(), 1n);
      await bookAll(paid);
      await rejects(bookAll(paid), /duplicate key/);
      await rejects(bookAll({ ...paid, version: 2n }), /books again what stands/);
    });

    test("entries that do not add up in each asset are refused", async () => {
      await refused(
        byHand([
          [1, "payer:world", "-5"],
          [2, "inbox:pi_hand", "4"],
        ]),
        /not whole/,
      );
      const other = `${CHAIN}/erc20:0xbeef`;
      await refused(
        byHand([
          [1, "payer:world", "-5"],
          [2, "inbox:pi_hand", "5", other],
        ]),
        /not whole/,
      );
    });

    test("a posting of fewer than two entries, of none, or of others than it says is refused", async () => {
      await refused(byHand([[1, "payer:world", "0"]]), /check constraint/);
      await refused(
        byHand(
          [
            [1, "payer:world", "-5"],
            [2, "inbox:pi_hand", "5"],
          ],
          { count: 3 },
        ),
        /not whole/,
      );
      await refused(
        byHand([
          [1, "payer:world", "-5"],
          [3, "inbox:pi_hand", "5"],
        ]),
        /not whole/,
      );
      await refused(byHand([], { count: 2 }), /has no entries/);
    });

    test("entries are refused that come later, or belong to nothing", async () => {
      await bookAll(comesIn(fresh(), 1n));
      const later = (id: RawBuilder<unknown>) => sql`
        insert into ledger_entry (posting_id, place, account, asset, amount_units)
        values (${id}, 3, 'payer:world', ${ASSET}, -1), (${id}, 4, 'payout:world', ${ASSET}, 1)`;
      await refused(later(sql`(select max(id) from ledger_posting)`), /not whole/);
      await refused(later(sql`999999`), /not whole/);
    });

    test("no inbox and no bridge holds less than nothing", async () => {
      await refused(
        byHand([
          [1, "payout:world", "5"],
          [2, "inbox:pi_hand", "-5"],
        ]),
        /ledger_balance_custody/,
      );
      await refused(
        byHand([
          [1, "payout:world", "5"],
          [2, "bridge:own", "-5"],
        ]),
        /ledger_balance_custody/,
      );
      await refused(
        byHand([
          [1, "payer:world", "-5"],
          [2, "loss:reorg", "5"],
        ]),
        /ledger_balance_missing/,
      );
    });

    test("accounts and assets have their forms, and a posting only touches its own inbox", async () => {
      await refused(
        byHand([
          [1, "payer:world", "-5"],
          [2, "inbox:", "5"],
        ]),
        /check constraint/,
      );
      await refused(
        byHand([
          [1, "petty:cash", "-5"],
          [2, "inbox:pi_hand", "5"],
        ]),
        /check constraint/,
      );
      await refused(
        byHand([
          [1, "payer:world", "-5", "USDC"],
          [2, "inbox:pi_hand", "5", "USDC"],
        ]),
        /check constraint/,
      );
      await refused(
        byHand([
          [1, "payer:world", "-5"],
          [2, "inbox:pi_other", "5"],
        ]),
        /not its own/,
      );
    });

    test("a reversal takes back one posting, wholly, and once", async () => {
      const inbox = fresh();
      const custody = `inbox:${inbox}`;
      const paid = comesIn(inbox, 5n);
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
      await refused(byHand(half, { reverses, reference, custody }), /not the reversal/);
      await refused(byHand(whole, { reverses, custody }), /check constraint/);
      await refused(
        byHand(whole, { reverses: 999_999n, reference: "reversal:999999", custody }),
        /foreign key|not the reversal/,
      );
      await byHand(whole, { reverses, reference, custody }).execute(db.root);
      await refused(byHand(whole, { reverses, reference, custody }), /duplicate key/);
      await bookAll({ ...paid, version: 2n });
    });

    test("97 nothing in the ledger is changed, removed or emptied, and no balance is written", async () => {
      for (const table of ["ledger_posting", "ledger_entry"]) {
        const column = table === "ledger_entry" ? "asset" : "chain";
        await refused(sql.raw(`update ${table} set ${column} = 'x'`), /only ever added to/);
        await refused(sql.raw(`delete from ${table}`), /only ever added to/);
        await refused(sql.raw(`truncate ${table} cascade`), /only ever added to/);
      }
      await refused(sql`update ledger_balance set balance_units = 0`, /drawn from entries/);
      await refused(sql`delete from ledger_balance`, /drawn from entries/);
      await refused(sql`insert into ledger_balance values ('inbox:x', ${ASSET}, 'inbox:x', 5)`, /drawn from entries/);
    });

    test("2^256-1 units come in and go out exactly", async () => {
      const inbox = fresh();
      const most = 2n ** 256n - 1n;
      await bookAll(comesIn(inbox, most), goesOut(inbox, most - 1n));
      deepEqual(await balancesOf(inbox), { [`inbox:${inbox}`]: 1n });
    });
  });
}

test("two who book for one inbox at once cannot both take out what is there once", async (context) => {
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
  await waitUntilBlocked(db);
  released.resolve();
  await first;
  match(await second, /ledger_balance_custody/);
  deepEqual(await runChecks(db, ledgerChecks), []);
});

const POLLS_MAX = 10_000;

async function waitUntilBlocked(db: Db): Promise<void> {
  for (let looks = 0; looks < POLLS_MAX; looks += 1) {
    const { rows } = await sql<{ waiting: bigint }>`
      select count(*) as waiting from pg_locks where not granted`.execute(db.root);
    if ((rows[0]?.waiting ?? 0n) > 0n) return;
  }
  throw new Error("nobody waits for a lock");
}
