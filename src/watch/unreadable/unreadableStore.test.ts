import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import type { Db } from "../../db/database.ts";
import { caip2 } from "../../kernel/caip.ts";
import { addMs } from "../../kernel/clock.ts";
import {
  addUnreadableInboxes,
  claimUnreadable,
  countUnreadable,
  deleteUnreadable,
  insertUnreadable,
  postponeUnreadable,
  type NewUnreadable,
} from "./unreadableStore.ts";

const CHAIN = caip2("eip155", "31337");
const AT = new Date("2026-11-24T12:00:00Z");
const MINUTE_MS = 60_000;
const INBOX = `0x${"1b".repeat(20)}`;

const found = (from: number, count: number, inboxes: readonly string[] = []): NewUnreadable[] =>
  Array.from({ length: count }, (_, index) => ({
    entry: {
      key: `0x${(from + index).toString(16).padStart(64, "0")}`,
      kind: "transaction",
      chainTx: undefined,
      blockNumber: 1n,
      place: undefined,
      reason: "version 2",
      names: inboxes,
      namesProgram: true,
    },
    inboxes,
    providers: ["one", "two"],
  }));

for (const database of thoroughDatabases)
  describe(`the rows of what cannot be read on ${database}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(database);
    });
    beforeEach(async () => {
      await db.root.deleteFrom("unreadable").execute();
      await db.root.deleteFrom("unreadable_overflow").execute();
    });
    after(() => db.close());

    const counts = async () =>
      (await countUnreadable(db)).map(({ chain, rows, inboxRows, leftOut }) => ({ chain, rows, inboxRows, leftOut }));
    const insert = (entries: readonly NewUnreadable[]) =>
      insertUnreadable(db, { chain: CHAIN, found: entries, at: AT });

    test("a chain has ten thousand, those that name an inbox first, and counts the others", async () => {
      equal(await insert(found(0, 9_990)), 9_990);
      equal(await insert([...found(20_000, 30), ...found(30_000, 4, [INBOX])]), 10);
      deepEqual(await counts(), [{ chain: CHAIN, rows: 10_000n, inboxRows: 4n, leftOut: 24n }]);
      equal(await insert(found(40_000, 7)), 0);
      deepEqual(await counts(), [{ chain: CHAIN, rows: 10_000n, inboxRows: 4n, leftOut: 31n }]);
    });

    test("a row that ends makes room, and the counter ends with the last row", async () => {
      await insert(found(0, 10_001));
      const all = found(0, 10_000).map(({ entry }) => entry.key);
      await deleteUnreadable(db, { chain: CHAIN, subjects: all.slice(0, 5) });
      equal(await insert(found(50_000, 6)), 5);
      deepEqual(await counts(), [{ chain: CHAIN, rows: 10_000n, inboxRows: 0n, leftOut: 2n }]);
      const others = found(50_000, 6).map(({ entry }) => entry.key);
      await deleteUnreadable(db, { chain: CHAIN, subjects: [...all, ...others] });
      deepEqual(await counts(), []);
      deepEqual(await db.root.selectFrom("unreadable_overflow").selectAll().execute(), []);
    });

    test("a row names each inbox that any list of the chain shows for it, once", async () => {
      const [first] = found(0, 1);
      ok(first);
      await insert([first]);
      const other = `0x${"2c".repeat(20)}`;
      const add = (inbox: string) =>
        addUnreadableInboxes(db, { chain: CHAIN, named: [{ subject: first.entry.key, inbox }] });
      await add(INBOX);
      await add(INBOX);
      await insert([{ ...first, inboxes: [INBOX, other] }]);
      const { inboxes } = await db.root.selectFrom("unreadable").select("inboxes").executeTakeFirstOrThrow();
      deepEqual(inboxes.toSorted(), [INBOX, other]);
      deepEqual(await counts(), [{ chain: CHAIN, rows: 1n, inboxRows: 1n, leftOut: 0n }]);
    });

    test("what one of two providers says is tried again every five minutes, what both say ever more seldom", async () => {
      await insert(found(0, 2));
      const [alone = "", both = ""] = found(0, 2).map(({ entry }) => entry.key);
      let at = AT;
      for (let tries = 0; tries < 12; tries += 1) {
        const rows = [
          { subject: alone, providers: ["one"] },
          { subject: both, providers: ["one", "two"] },
        ];
        at = addMs(at, MINUTE_MS);
        await postponeUnreadable(db, { chain: CHAIN, rows, needed: 2, at });
      }
      const stored = await db.root.selectFrom("unreadable").select(["subject", "providers", "retry_at"]).execute();
      const waits = new Map(
        stored.map(({ subject, retry_at: retryAt, providers }) => [
          subject,
          [providers, (retryAt.getTime() - at.getTime()) / MINUTE_MS],
        ]),
      );
      deepEqual(waits.get(alone), ["one", 5]);
      deepEqual(waits.get(both), ["one, two", 24 * 60]);
      const claim = { chain: CHAIN, at: addMs(at, 6 * MINUTE_MS), until: addMs(at, 60 * MINUTE_MS), limit: 5 };
      deepEqual(
        (await claimUnreadable(db, claim)).map(({ subject }) => subject),
        [alone],
      );
    });
  });
