import { equal, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import {
  copyPostgresDatabase,
  createPostgresDatabase,
  thoroughDatabases,
  openTestDatabase,
} from "../../../test/support/database.ts";
import { insertAccount, insertIntent, insertMissingInboxes, randomAddress } from "../../../test/support/intents.ts";
import { openDatabase, type Db } from "../../db/database.ts";
import { systemClock, type Clock } from "../../kernel/clock.ts";
import { WatchedInboxes } from "./watchedInboxes.ts";

for (const kind of thoroughDatabases) {
  describe(`watched inboxes on ${kind}`, () => {
    test("a refresh knows every inbox committed before it, at any rate of creates", async () => {
      await using database = await openDisposableDatabase(kind);
      const { db } = database;
      const inboxes = new WatchedInboxes(systemClock, "eip155");
      await inboxes.refresh(db);
      equal(inboxes.size, 0);
      const account_id = await insertAccount(db);
      const made = Array.from({ length: 40 }, async () => {
        const { inbox_address: inbox } = await insertIntent(db, { account_id });
        await inboxes.refresh(db);
        ok(inboxes.has(inbox), `${inbox} is not known`);
        return inbox;
      });
      for (const inbox of await Promise.all(made)) {
        ok(inboxes.has(inbox));
        ok(inboxes.hasAt(Buffer.from(`0x000${inbox.slice(2).toUpperCase()}`), 5));
      }
      equal(inboxes.size, 40);
      ok(!inboxes.has(randomAddress()));
    });

    test("a refresh during another one waits for a read that starts later", async () => {
      await using database = await openDisposableDatabase(kind);
      const { db } = database;
      const inboxes = new WatchedInboxes(systemClock, "eip155");
      const running = inboxes.refresh(db);
      const { inbox_address: inbox } = await insertIntent(db);
      await inboxes.refresh(db);
      ok(inboxes.has(inbox));
      await running;
    });

    test("numbers that failed creates used hide no inbox", async () => {
      await using database = await openDisposableDatabase(kind);
      const { db } = database;
      const inboxes = new WatchedInboxes(systemClock, "eip155");
      const made: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const { inbox_address: inbox } = await insertIntent(db);
        made.push(inbox);
        await sql`select nextval(pg_get_serial_sequence('inbox', 'seq')) from generate_series(1, 3000)`.execute(
          db.root,
        );
        await inboxes.refresh(db);
      }
      equal(made.filter((inbox) => inboxes.has(inbox)).length, 3);
    });
  });
}

test("after a failover that lost commits, intents that get the numbers of the lost ones are known", async () => {
  const primary = await createPostgresDatabase();
  const seeded = await openDatabaseAt(primary.url);
  const account_id = await insertAccount(seeded);
  const kept = await insertIntent(seeded, { account_id });
  await seeded.close();
  const standby = await copyPostgresDatabase(primary);
  const [before, after] = [await openDatabaseAt(primary.url), await openDatabaseAt(standby.url)];
  const inboxes = new WatchedInboxes(systemClock, "eip155");
  const lost = [await insertIntent(before, { account_id }), await insertIntent(before, { account_id })];
  await inboxes.refresh(before);
  ok([kept, ...lost].every((intent) => inboxes.has(intent.inbox_address)));
  for (let round = 0; round < 4; round += 1) {
    const made = await insertIntent(after, { account_id });
    await inboxes.refresh(after);
    ok(inboxes.has(made.inbox_address), `the intent ${round + 1} after the failover`);
    ok(inboxes.has(kept.inbox_address));
  }
  await Promise.all([before.close(), after.close()]);
  await standby.drop();
  await primary.drop();
});

test("a create in one process is known in another, also after a lost connection", async () => {
  const { url, drop } = await createPostgresDatabase();
  const [here, there] = [await openDatabaseAt(url), await openDatabaseAt(url)];
  const inboxes = new WatchedInboxes(systemClock, "eip155");
  await inboxes.refresh(there);
  const first = await insertIntent(here);
  await inboxes.refresh(there);
  ok(inboxes.has(first.inbox_address));
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
    here.root,
  );
  const second = await insertIntent(here);
  // A lost connection shows at the latest in its next query, which fails and is repeated.
  await inboxes.refresh(there).catch(() => inboxes.refresh(there));
  ok(inboxes.has(second.inbox_address));
  equal(inboxes.size, 2);
  await Promise.all([here.close(), there.close()]);
  await drop();
});

test("after a failed refresh the next one is complete", async () => {
  await using database = await openDisposableDatabase("postgres");
  const { db } = database;
  await insertIntents(db, 21_000);
  const inboxes = new WatchedInboxes(systemClock, "eip155");
  let questions = 0;
  const failing: Db = {
    ...db,
    get root() {
      questions += 1;
      if (questions === 2) throw new Error("the connection was lost");
      return db.root;
    },
  };
  await rejects(inboxes.refresh(failing), /connection was lost/);
  ok(inboxes.size > 0 && inboxes.size < 21_000);
  await inboxes.refresh(db);
  equal(inboxes.size, 21_000);
});

test("an inbox whose create commits half a minute after drawing its number is found", async () => {
  await using database = await openDisposableDatabase("postgres");
  const { db } = database;
  const { clock, pass } = createManualClock();
  const inboxes = new WatchedInboxes(clock, "eip155");
  for (const waitMs of [0, 30_000]) {
    const account_id = await insertAccount(db);
    const committed = Promise.withResolvers<void>();
    const inserted = Promise.withResolvers<string>();
    const slow = db.transaction(async (tx) => {
      const late = await insertIntent({ ...db, root: tx }, { account_id });
      inserted.resolve(late.inbox_address);
      await committed.promise;
    });
    const late = await inserted.promise;
    const quick = await insertIntent(db, { account_id });
    await inboxes.refresh(db);
    ok(inboxes.has(quick.inbox_address) && !inboxes.has(late));
    pass(waitMs);
    committed.resolve();
    await slow;
    await inboxes.refresh(db);
    ok(inboxes.has(late));
  }
  equal(inboxes.size, 4);
});

async function openDisposableDatabase(kind: (typeof thoroughDatabases)[number]) {
  const db = await openTestDatabase(kind);
  return { db, [Symbol.asyncDispose]: () => db.close() };
}

function openDatabaseAt(url: string): Promise<Db> {
  return openDatabase({ url, allowUnsafeFsync: true, poolSizeMax: 2 });
}

function createManualClock(): { clock: Clock; pass: (ms: number) => void } {
  let nowMs = 0;
  return {
    clock: { ...systemClock, monotonicMs: () => nowMs },
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

/** Inserts many copies of an intent that differ only in unique columns. */
async function insertIntents(db: Db, count: number): Promise<void> {
  const { id } = await insertIntent(db);
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns where table_name = 'intent' and is_identity = 'NO'`.execute(
    db.root,
  );
  const own = new Map([
    ["id", sql`'pi_' || n`],
    ["inbox_address", sql`'0x' || left(encode(sha256(n::text::bytea), 'hex'), 40)`],
    ["widget_token_hash", sql`sha256(n::text::bytea)`],
  ]);
  await sql`
    insert into intent (${sql.join(rows.map(({ name }) => sql.ref(name)))})
    select ${sql.join(rows.map(({ name }) => own.get(name) ?? sql.ref(`intent.${name}`)))}
    from intent, generate_series(2, ${count}::int) as n where intent.id = ${id}`.execute(db.root);
  await insertMissingInboxes(db);
}
