import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { checkCrossings } from "../../src/alarm/checkBridge.ts";
import { claimAttested, claimBurns, listDearest, listDueTransactions } from "../../src/bridge/store.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { openDatabase } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { renderMetrics } from "../../src/metrics/metrics.ts";
import { landCrossings } from "../../src/settlement/crossing/landCrossings.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { stationWorld } from "../support/stationWorld.ts";
import { recordStatements } from "./recordStatements.ts";
import { isExcessive } from "./statementCost.ts";

const LANDED = 30_000;
const OPEN_EACH = 3;
/** Burns below the minimum, proven and not, which a stranger made by the thousand. */
const SMALL_EACH = 18_000;
const SMALL_PER_TRANSACTION = 900;

let server: PostgresServer;
before(async () => {
  server = await startOwnServer();
});
after(() => server.remove());

test("alarms, metrics and every pass read the open crossings, whatever has landed, and however many small burns wait", async (context) => {
  const name = "crossings";
  const url = await createDatabaseOn(server, name);
  const first = await openDatabase({ url, allowUnsafeFsync: true });
  await first.transaction(async (tx) => {
    // The burns' movements and intents do not matter here.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into crossing (movement_id, intent_id, chain, chain_tx, proof_tx, token, units, bridge, settle_chain, status, queue, mint, retry_at,
        status_since, created_at, updated_at)
      select -n, 'pi_small', 'eip155:31338', '0xsmall' || n / ${SMALL_PER_TRANSACTION}, '0xsmall' || n / ${SMALL_PER_TRANSACTION}, '0x', 2,
        'cctp-v2/0', 'eip155:31337', case when n <= ${SMALL_EACH} then 'burned' else 'attested' end, 3,
        case when n > ${SMALL_EACH} then 'cctp-v2/1/small' || n end, at, at, at, at
      from generate_series(1, ${2 * SMALL_EACH}) as n, (select now() - interval '2 days' as at) as times`.execute(tx);
    await sql`
      insert into crossing (movement_id, intent_id, chain, chain_tx, proof_tx, token, units, bridge, settle_chain, status, mint, retry_at, status_since,
        created_at, updated_at)
      select n, 'pi_' || n, 'eip155:31338', '0x' || n, '0x' || n, '0x', 1, 'cctp-v2/0', 'eip155:31337',
        case when n <= ${LANDED} then 'landed' when n % 2 = 0 then 'burned' else 'attested' end, 'cctp-v2/1/' || n, case when n > ${LANDED} then at end, at, at, at
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
      ["crossing_postponed", 2 * OPEN_EACH],
      ["crossing_late", OPEN_EACH],
      ["crossing_not_received", OPEN_EACH],
    ],
  );
  await renderMetrics({ db, clock: systemClock, config, chains: new Map(), memory: new ProcessMemory() });
  const at = systemClock.now();
  const transactions = await listDueTransactions(db, { at, limit: 9 });
  assert.deepEqual(
    transactions.map(({ queue }) => queue),
    [1, 1, 1, 3, 3, 3, 3, 3, 3],
  );
  const claimedUntil = new Date(at.getTime() + 60_000);
  await claimBurns(db, { transactions: transactions.slice(0, OPEN_EACH), at, claimedUntil });
  for (const queue of [1, 2, 3]) {
    await claimAttested(db, { settleChain: "eip155:31337", queue, at, claimedUntil, sentUntil: at, limit: 50 });
    await listDearest(db, { settleChain: "eip155:31337", queue, limit: 50 });
  }
  await landCrossings({ ...base, db, catalog: buildCatalog(config) }, "eip155:31337");
  const statements = (await log.take()).filter(({ text }) => /\bcrossing\b/.test(text));
  assert.ok(statements.length >= 12, `${statements.length} statements`);
  for (const { text, cost } of statements)
    assert.ok(!isExcessive(cost), `${cost.readRows} rows, ${cost.pages} pages: ${text}`);
});
