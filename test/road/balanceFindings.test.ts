import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { checkRows } from "../../src/alarm/checkRows.ts";
import { addHealthRoutes } from "../../src/http/documents/healthRoutes.ts";
import { checkBalances } from "../../src/operator/doctor/checkBalances.ts";
import { advancePass, claimPass, insertPasses, upsertDifference } from "../../src/watch/reconcile/balanceStore.ts";
import type { World } from "../../src/world.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { openTestDatabase } from "../support/database.ts";
import { insertIntent } from "../support/intents.ts";

const CHAIN = "eip155:900001" as const;
const DAY_MS = 86_400_000;

test("doctor and alarms show the last comparison of all inboxes, and what differs; readyz shows its status alone", async () => {
  const db = await openTestDatabase("postgres");
  try {
    let now = new Date("2026-11-01T12:00:00Z");
    const clock = { now: () => now };
    const config = { chains: [{ caip2: CHAIN, name: "Alpha", settleAfterMs: 0 }] };
    const world = { db, clock, config, memory: new ProcessMemory() } as unknown as World;
    const findings = async () => (await checkBalances(world)).map(({ verdict, found }) => `${verdict} ${found}`);
    deepEqual(await findings(), [], "no process has compared yet");
    await insertPasses(db, { chain: CHAIN, at: now, detection: "blocks" });
    deepEqual(await findings(), ["ok no difference, the first comparison of all inboxes has compared 0"]);
    for (let count = 0; count < 4; count += 1) {
      const until = new Date(now.getTime() + 60_000);
      const pass = await claimPass(db, { chain: CHAIN, at: now, until });
      const nextAt = new Date(now.getTime() + DAY_MS);
      if (pass) await advancePass(db, pass, { position: undefined, comparedCount: 7, at: now, nextAt });
    }
    deepEqual(await findings(), ["ok no difference, 7 inboxes compared until 2026-11-01T12:00:00.000Z"]);
    const { id, inbox_address: inbox } = await insertIntent(db);
    const difference = { chain: CHAIN, inbox, token: "0xtoken", intent_id: id, block_number: 9n };
    await upsertDifference(db, { ...difference, ledger_units: 1n, chain_units: 3n, at: now });
    match((await findings())[0] ?? "", /^fail 1 differ from the ledger: run doctor --ledger; 7 inboxes/);
    const server = Fastify();
    addHealthRoutes(server, world, { isLeaving: false });
    const { statusCode, body } = await server.inject("/readyz");
    deepEqual([statusCode, JSON.parse(body)], [200, { status: "degraded" }]);
    deepEqual(
      (await checkRows(world)).map(({ alarm, facts }) => [alarm, facts]),
      [["balance_differs", { chain: CHAIN, balances: 1 }]],
    );
    await server.close();
    now = new Date(now.getTime() + 3 * DAY_MS);
    await db.root.deleteFrom("balance_difference").execute();
    match((await findings())[0] ?? "", /^warn no difference, 7 inboxes/);
  } finally {
    await db.close();
  }
});
