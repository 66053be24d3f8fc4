import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { assertFault, testApi } from "../../support/api.ts";

test("D34 a reader behind what the retention has deleted is told the oldest event", async () => {
  const api = await testApi();
  const { db } = api.world;
  const merchant = await api.openMerchant();
  for (let count = 0; count < 3; count += 1) await merchant.createIntent();
  while (!(await assignEventSequences(api.world)).isDone);
  const deleteUpTo = (sequence: number) =>
    sql`delete from event where sequence <= ${sequence}
      and account_number = (select number from account where id = ${merchant.accountId})`.execute(db.root);
  await deleteUpTo(2);
  const error = assertFault(await merchant.get("/api/v1/events"), 410, "events_expired");
  assert.deepEqual(error.details, { oldestSequence: 3 });
  assertFault(await merchant.get("/api/v1/events?after=1&type=deposit.*"), 410, "events_expired");
  assert.equal((await merchant.get("/api/v1/events?after=2")).body.data.length, 1);
  await deleteUpTo(3);
  const all = assertFault(await merchant.get("/api/v1/events?after=2"), 410, "events_expired");
  assert.deepEqual(all.details, { oldestSequence: 4 });
  assert.deepEqual((await merchant.get("/api/v1/events?after=3")).body.data, []);
});
