import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startOwnServer } from "../support/database.ts";
import { isDeepRun, onlyDeep } from "../support/runNumber.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { openCostWorld } from "./costWorld.ts";
import { isExempt } from "./exemptStatements.ts";
import {
  EVEN_NOW,
  formatOffenders,
  formatSetting,
  listOffenders,
  measureCourses,
  type Setting,
} from "./measureCourses.ts";

// Cost follows work: a statement reads rows in proportion to what it returns, writes or was given, and never to
// history, whatever the planner knows of the tables. `npm run test:deep` has every setting, and a million movements.

const LITTLE = 1_000;

const FLOOD_NEVER_ANALYSED: Setting = { shape: "skewed", statistics: "never", plans: "auto" };

/** The deep tests add a flood beside few deposits, in the settings in which the planner knows least. */
const SETTINGS: readonly { movements: number; setting: Setting }[] = [
  { movements: isDeepRun ? 24_000 : 9_000, setting: EVEN_NOW },
  ...(isDeepRun ? [{ movements: 6_000, setting: FLOOD_NEVER_ANALYSED }] : []),
];

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

test("copied history passes every audit", { skip: onlyDeep }, async () => {
  const world = await openCostWorld(server, { name: "audited", payments: 40, intents: 10 });
  await assertAllChecks(world.road.world.db);
  await world.close();
});

for (const { movements, setting } of SETTINGS)
  test(`no statement of the road reads rows in proportion to history (${formatSetting(setting)})`, async () => {
    const measured = await measureCourses(server, movements, setting);
    const offenders = listOffenders(measured).filter((offender) => !isExempt(offender));
    if (offenders.length === 0) return;
    const little = await measureCourses(server, LITTLE, setting);
    assert.fail(`these statements read more than their work explains:\n${formatOffenders(offenders, little)}`);
  });
