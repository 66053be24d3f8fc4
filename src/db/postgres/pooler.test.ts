import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { createDatabaseOn, startOwnServer } from "../../../test/support/database.ts";
import { skipWithoutPgbouncer, startPgbouncer, type PgbouncerOptions } from "../../../test/support/pgbouncer.ts";
import type { PostgresServer } from "../../../test/support/postgres.ts";
import { isServiceBusy } from "../../kernel/errors/classifyError.ts";
import { openDatabase, type Db } from "../database.ts";
import { DatabaseUnusable } from "../errors.ts";
import { checkServer } from "./serverChecks.ts";

describe("a pooler before the database", { skip: skipWithoutPgbouncer }, () => {
  let server: PostgresServer;
  const closing: (() => Promise<unknown>)[] = [];

  before(async () => {
    server = await startOwnServer({ isDurable: true });
    await createDatabaseOn(server, "service", "empty");
  });
  after(async () => {
    for (const close of closing.toReversed()) await close();
    await server?.remove();
  });

  async function openPooler(options: Omit<PgbouncerOptions, "socketDirectory">) {
    const pooler = await startPgbouncer({ socketDirectory: server.socketDirectory, ...options });
    closing.push(() => pooler.stop());
    return pooler;
  }

  async function open(url: string): Promise<Db> {
    const db = await openDatabase({ url, poolSizeMax: 4, refusesSharedSessions: true });
    closing.push(() => db.close());
    return db;
  }

  test("in session mode it works: settings stay with their session, and statements with a name as well", async () => {
    const pooler = await openPooler({ mode: "session" });
    const db = await open(pooler.urlOf("service"));
    await sql`create table written (value int)`.execute(db.root);
    const insert = (value: number) =>
      db.transaction(
        async (tx) => void (await sql`/* named: insert */ insert into written values (${value})`.execute(tx)),
      );
    await Promise.all(Array.from({ length: 20 }, (_, value) => insert(value)));
    const { rows } = await sql<{ count: number; zone: string }>`
      select count(*)::int as count, current_setting('timezone') as zone from written`.execute(db.root);
    assert.deepEqual(rows, [{ count: 20, zone: "UTC" }]);
  });

  test("in transaction mode it is refused with one sentence", async () => {
    const pooler = await openPooler({ mode: "transaction" });
    await assert.rejects(
      open(pooler.urlOf("service")),
      (error) =>
        error instanceof DatabaseUnusable &&
        /shares one session .* session mode, or .* direct host/.test(error.message),
    );
  });

  test("a direct connection is not refused", async () => {
    await open(server.urlOf("service"));
  });

  test("a pooler without room is unavailable, and no row's fault", async () => {
    const pooler = await openPooler({ mode: "session", clientsMax: 1 });
    await open(pooler.urlOf("service"));
    await assert.rejects(open(pooler.urlOf("service")), isServiceBusy);
  });

  test("TLS with a CA of its own: only with its certificate, or without any check", async () => {
    const pooler = await openPooler({ mode: "session", hasTls: true });
    const url = pooler.urlOf("service");
    await assert.rejects(open(url), /SSL required/);
    await assert.rejects(open(`${url}?sslmode=verify-full`), /self-signed certificate|unable to get|unable to verify/);
    await open(`${url}?sslmode=verify-full&sslrootcert=${pooler.caFile}`);
    await open(`${url}?sslmode=no-verify`);
  });
});

test("a server whose storage is elsewhere may run without fsync, and no other one unless it is accepted", async () => {
  const answers = (unsafe: readonly string[]) => ({
    runStatement: async (text: string) =>
      text.includes("server_version_num")
        ? { rows: [{ version: 170_000, encoding: "UTF8" }] }
        : { rows: unsafe.map((name) => ({ name })) },
  });
  await checkServer(answers([]));
  await checkServer(answers(["fsync"]), { allowUnsafeFsync: true });
  await assert.rejects(checkServer(answers(["fsync"])), /fsync off: .* "acceptRisks": \["unsafeFsync"\]/);
});
