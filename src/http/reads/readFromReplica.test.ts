import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { openDatabase, type Db } from "../../db/database.ts";
import { Replica } from "../../db/postgres/replica.ts";
import { systemClock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import { createPostgresDatabase, type PostgresDatabase } from "../../../test/support/database.ts";
import { readFromReplica } from "./readFromReplica.ts";

// What a standby answers is tested in test/failover/replica.test.ts. Here is none.

describe("reads without a usable copy", () => {
  let database: PostgresDatabase;
  let db: Db;
  before(async () => {
    database = await createPostgresDatabase();
    db = await openDatabase({ url: database.url, allowUnsafeFsync: true });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const open = (url: string) =>
    new Replica({ url, schema: undefined, clock: systemClock, log: pino({ level: "silent" }) });

  for (const [name, url, reason] of [
    ["that is the primary itself", () => database.url, /^it is no standby$/],
    ["at which nobody answers", () => "postgres://tributary@127.0.0.1:1/tributary", /ECONNREFUSED/],
  ] as const)
    test(`D52 a copy ${name} is not read, and the primary is`, async (t) => {
      const replica = open(url());
      t.after(() => replica.close());
      const read: Db[] = [];
      const { result, asOf } = await readFromReplica({ db, replica }, async (world) => read.push(world.db));
      assert.deepEqual([result, asOf, read[0] === db], [1, undefined, true]);
      assert.match((await replica.check()).reason ?? "", reason);
    });

  test("D52 a fault of the primary reaches the caller", async () => {
    const failing = readFromReplica({ db }, async () => {
      throw new Fault("not_found");
    });
    await assert.rejects(failing, Fault);
  });
});
