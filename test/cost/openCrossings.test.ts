import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { checkCrossings } from "../../src/alarm/checkBridge.ts";
import { openDatabase } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { renderMetrics } from "../../src/metrics/metrics.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { stationWorld } from "../support/stationWorld.ts";
import { recordStatements } from "./recordStatements.ts";
import { isExcessive } from "./statementCost.ts";

const LANDED = 30_000;
const OPEN_EACH = 3;

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

test("alarms and metrics about crossings read the open ones, whatever has landed", async (context) => {
  const name = "crossings";
  const url = await createDatabaseOn(server, name);
  const first = await openDatabase({ url, allowUnsafeFsync: true });
  await first.transaction(async (tx) => {
    // The burns' movements and intents do not matter here.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into crossing (movement_id, intent_id, chain, chain_tx, token, units, bridge, settle_chain, status, mint, status_since, created_at,
        updated_at)
      select n, 'pi_' || n, 'eip155:31338', '0x' || n, '0x', 1, 'cctp-v2/0', 'eip155:31337',
        case when n <= ${LANDED} then 'landed' when n % 2 = 0 then 'burned' else 'attested' end, 'cctp-v2/1/' || n, at, at, at
      from generate_series(1, ${LANDED + 2 * OPEN_EACH}) as n, (select now() - interval '1 day' as at) as times`.execute(
      tx,
    );
  });
  await sql`vacuum (analyze) crossing`.execute(first.root);
  await first.close();
  const log = await recordStatements(server, name);
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  context.after(() => db.close());
  const base = stationWorld(db);
  const bridge = { attestationUrl: "http://127.0.0.1:1", fastFeePpmMax: 0 };
  const config = { ...base.config, chains: bridgedChains(), bridge };
  const found = await checkCrossings({ db, clock: systemClock, config });
  assert.deepEqual(
    found.map(({ alarm, facts }) => [alarm, facts["crossings"]]),
    [
      ["crossing_late", OPEN_EACH],
      ["crossing_not_received", OPEN_EACH],
    ],
  );
  await renderMetrics({ db, clock: systemClock, config, chains: new Map(), memory: new ProcessMemory() });
  const statements = (await log.take()).filter(({ text }) => /\bfrom crossing\b/.test(text));
  assert.equal(statements.length, 3);
  for (const { text, cost } of statements)
    assert.ok(!isExcessive(cost), `${cost.readRows} rows, ${cost.pages} pages: ${text}`);
});
