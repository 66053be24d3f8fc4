import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { sql } from "kysely";
import { openDatabase, type Db } from "../../../src/db/database.ts";
import { array } from "../../../src/db/parameters.ts";
import { LOCAL_MINTS } from "../../../packages/local-solana/src/fixtures.ts";
import { followAccountsLoops } from "../../../src/loops/chain/followAccountsLoops.ts";
import { runLoop } from "../../../src/loops/loop.ts";
import { startPostgres } from "../../support/postgres.ts";
import { openSolanaRoad, type SolanaRoad } from "../../support/solanaRoad.ts";
import { fillWithInboxes } from "./manyInboxes.ts";
import type { MemoryJob, SetReport } from "./memoryWorker.ts";
import { runInChildProcess } from "./runInChildProcess.ts";
import { heading, tabulate } from "./statistics.ts";

// Measures what a million inboxes on Solana cost while nobody pays: requests a second for all balances in ten minutes,
// and memory. The rate depends on the number that the last pass counted, so the pass runs for a while over a part of
// them.

const INBOXES = 1_000_000;
const STORED = 60_000;
const MEASURED_MS = 30_000;
const WARM_UP_MS = 3_000;
const PASS_S = 600;
const CALLS_GOAL = 17;
const MEMORY_GOAL_MB = 50;
const BYTES_PER_MB = 1_000_000;

export async function benchManyAccounts(): Promise<void> {
  const held = await runInChildProcess<SetReport>("memoryWorker.ts", {
    kind: "hold",
    holder: "AddressFingerprints",
    count: INBOXES,
  } satisfies MemoryJob);
  const { calls, inboxes } = await measurePass();
  const mb = (bytes: number) => (bytes / BYTES_PER_MB).toFixed(0);
  console.log(
    tabulate([
      [`${INBOXES.toLocaleString("en")} inboxes on Solana`, "measured", "goal"],
      ["requests a second", calls.toFixed(1), String(CALLS_GOAL)],
      ["minutes for all balances", (INBOXES / inboxes / 60).toFixed(1), String(PASS_S / 60)],
      ["memory of the watched set, MB", mb(held.rssBytes), String(MEMORY_GOAL_MB)],
      ["memory at the peak while it grows, MB", mb(held.peakBytes), String(MEMORY_GOAL_MB)],
    ]),
  );
}

/** Requests and compared inboxes a second. */
async function measurePass(): Promise<{ calls: number; inboxes: number }> {
  const postgres = await startPostgres(undefined, { isDurable: true });
  const counter = { calls: 0, close: () => {} };
  try {
    const url = postgres.urlOf("postgres");
    await fillWithInboxes(url, STORED);
    const db = await openDatabase({ url });
    const road = await openSolanaRoad({ db, rpcUrls: async (honest) => [await startCounter(counter, honest)] });
    await addInboxesOnSolana(road);
    await sql`update balance_pass set completed_count = ${INBOXES}::int8, next_at = started_at where scope = 'all'`.execute(
      db.root,
    );
    const [chain] = road.world.chains.values();
    const loop = chain && followAccountsLoops(road.world, chain)[1];
    if (loop === undefined) throw new Error("no loop compares all inboxes");
    const ending = new AbortController();
    const running = runLoop(road.world, loop, ending.signal);
    await delay(WARM_UP_MS);
    const [before, startedAt] = [{ calls: counter.calls, inboxes: await countCompared(db) }, performance.now()];
    await delay(MEASURED_MS);
    const [after, seconds] = [
      { calls: counter.calls, inboxes: await countCompared(db) },
      (performance.now() - startedAt) / 1_000,
    ];
    ending.abort();
    await running;
    await db.close();
    await road.solana.stop();
    return { calls: (after.calls - before.calls) / seconds, inboxes: (after.inboxes - before.inboxes) / seconds };
  } finally {
    counter.close();
    await postgres.remove();
  }
}

/** Each intent of the database has an inbox on the local chain. */
async function addInboxesOnSolana({ db, solana }: SolanaRoad): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from intent order by seq`.execute(db.root);
  const addresses = rows.map(() => encodeKey(new Uint8Array(randomBytes(32))));
  await sql`
    insert into inbox (namespace, reference, address, intent_id, kind, token, created_at)
    select 'solana', ${solana.reference}, address, intent_id, 'deposit', ${LOCAL_MINTS.USDC.address}, now()
    from unnest(${array(addresses, "text")}, ${array(
      rows.map(({ id }) => id),
      "text",
    )}) as made (address, intent_id)`.execute(db.root);
  await sql`analyze inbox`.execute(db.root);
}

async function countCompared(db: Db): Promise<number> {
  const row = await db.root
    .selectFrom("balance_pass")
    .select("compared_count")
    .where("scope", "=", "all")
    .executeTakeFirstOrThrow();
  return Number(row.compared_count);
}

/** A provider that counts what it is asked. */
async function startCounter(counter: { calls: number; close: () => void }, nodeUrl: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const asked: unknown = JSON.parse(body);
      counter.calls += Array.isArray(asked) ? asked.length : 1;
      const answer = await fetch(nodeUrl, { method: "POST", headers, body });
      response.setHeader("content-type", "application/json");
      response.end(await answer.text());
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  counter.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

if (import.meta.main) {
  console.log(heading({ litesvm: "1.5.0" }));
  await benchManyAccounts();
}
