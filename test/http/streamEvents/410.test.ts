import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { assertFault, testApi } from "../../support/api.ts";
import { appendAccountEvents } from "../../support/events.ts";

test("D34 a client behind what the retention has deleted is told the oldest event before a stream begins", async () => {
  const api = await testApi();
  const { db } = api.world;
  const merchant = await api.openMerchant();
  await appendAccountEvents(api.world, merchant.accountId, 3);
  while (!(await assignEventSequences(api.world)).isDone);
  await sql`delete from event where sequence <= 2
    and account_number = (select number from account where id = ${merchant.accountId})`.execute(db.root);
  const error = assertFault(await merchant.get("/api/v1/events/stream?after=1"), 410, "events_expired");
  assert.deepEqual(error.details, { oldestSequence: 3 });
  assert.equal((await merchant.get("/api/v1/events/stream?after=2")).status, 200);
});
