import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startOwnServer } from "../support/database.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { openCostWorld } from "./costWorld.ts";
import { isExempt } from "./exemptStatements.ts";
import { formatOffenders, listOffenders, measureCourses } from "./measureCourses.ts";

// Cost follows work: a statement reads rows in proportion to what it returns, writes or was given, and never to history. `npm run
// test:deep` has the same test with a million movements.

const LITTLE = 1_000;
const MUCH = 30_000;

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

test("copied history passes every audit", async () => {
  const world = await openCostWorld(server, { name: "audited", payments: 40, intents: 10 });
  await assertAllChecks(world.road.world.db);
  await world.close();
});

test("no statement of the road reads rows in proportion to history", async () => {
  const offenders = listOffenders(await measureCourses(server, MUCH)).filter((offender) => !isExempt(offender));
  if (offenders.length === 0) return;
  const little = await measureCourses(server, LITTLE);
  assert.fail(`these statements read more than their work explains:\n${formatOffenders(offenders, little)}`);
});
