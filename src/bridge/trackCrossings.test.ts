import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { bridgedChains } from "../../test/support/bridgedConfig.ts";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent } from "../../test/support/intents.ts";
import { recordMovements, setHead } from "../../test/support/movements.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import { buildCatalog } from "../catalog/catalog.ts";
import type { BridgeService } from "../chain/bridge.ts";
import { openAttestationClient } from "../chain/evm/bridge/attestationClient.ts";
import type { Db } from "../db/database.ts";
import { startAttestationServer, type AttestationServer } from "../dev/attestation/attestationServer.ts";
import { systemClock, type Clock } from "../kernel/clock.ts";
import { ProcessMemory } from "../kernel/processMemory.ts";
import { refreshFees } from "./fees.ts";
import { insertCrossings, storeProofs, type Burn } from "./store.ts";
import { trackCrossings, type TrackWorld } from "./trackCrossings.ts";

const BURNS = 1_000;
const FLOOD = 900;
const STEP_MS = 250;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const CALLS_A_SECOND_MAX = 10;

describe("asking a bridge's service about open burns", () => {
  let db: Db;
  let server: AttestationServer;
  let service: BridgeService;
  let world: TrackWorld;
  const other = new ProcessMemory();
  let nowMs = Date.UTC(2026, 0, 1);
  before(async () => {
    db = await openTestDatabase("postgres");
    const clock: Clock = { ...systemClock, now: () => new Date(nowMs) };
    const base = stationWorld(db);
    world = { ...base, clock, catalog: buildCatalog({ ...base.config, chains: bridgedChains() }) };
    server = await startAttestationServer([], { now: () => nowMs });
    service = openAttestationClient(server.url);
    await setHead(db, "eip155:31338", { number: 1_000n, finalized: 1_000n });
    const intent = await insertIntent(db, {});
    await recordMovements(
      db,
      intent,
      Array.from({ length: BURNS }, (_, index) => ({
        chain: "eip155:31338" as const,
        direction: "out" as const,
        chainTx: `0x${index.toString(16).padStart(64, "0")}`,
        amountUnits: 1_000_000n,
        block: 100n,
        crossing: { crossingName: "cctp-v2/0", feeUnits: 0n },
      })),
    );
    const movements = await db.root.selectFrom("movement").selectAll().execute();
    const burns = movements.map(({ id, intent_id, chain, chain_tx, token, amount_units, explained_by }): Burn => {
      const settle_chain = "eip155:31337" as const;
      return {
        movement_id: id,
        intent_id,
        chain,
        chain_tx,
        token,
        units: amount_units,
        bridge: explained_by ?? "",
        settle_chain,
      };
    });
    await db.transaction((tx) => insertCrossings(tx, burns, new Date(nowMs)));
  });
  after(async () => {
    await service.close();
    await server.stop();
    await db.close();
  });

  /** Two processes that look at once, for some time. Each keeps the fees known as well. */
  async function run(forMs: number, stepMs = STEP_MS): Promise<void> {
    const processes = [world, { ...world, memory: other }];
    for (const end = nowMs + forMs; nowMs < end; nowMs += stepMs)
      await Promise.all(
        processes.flatMap((each) => [trackCrossings(each, service), refreshFees({ ...each, bridge: service })]),
      );
  }

  test("two processes with 1,000 open burns make at most ten calls a second, are never refused, and forget no burn", async () => {
    await run(3 * MINUTE_MS);
    const times = server.requests.map(({ at }) => at);
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + SECOND_MS).length));
    ok(most <= CALLS_A_SECOND_MAX, `${most} calls in one second`);
    const isAboutBurn = (path: string) => path.startsWith("/v2/messages/");
    equal(new Set(server.requests.map(({ path }) => path).filter(isAboutBurn)).size, BURNS);
    ok(
      server.requests.some(({ path }) => path.startsWith("/v2/burn/")),
      "fees are asked for beside them",
    );
    equal(server.refusedCount(), 0);
    const { rows } = await sql<{ status: string; reason: string }>`
      select distinct status, reason from crossing`.execute(db.root);
    deepEqual(rows, [{ status: "burned", reason: "not_seen_by_bridge" }]);
  });

  test("a service that refuses further requests is left alone for its five minutes", async () => {
    // A stranger behind the same address uses up the service's limit.
    const path = `${server.url}/v2/messages/9?transactionHash=0x`;
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await fetch(path)).status));
    ok(statuses.includes(429));
    await run(2 * SECOND_MS);
    const asked = server.requests.length;
    await run(4 * MINUTE_MS, 5 * SECOND_MS);
    equal(server.requests.length, asked);
    await run(2 * MINUTE_MS, 5 * SECOND_MS);
    ok(server.requests.length > asked);
  });

  test("a burn is asked about every second when its proof is expected, and rarely at other times", async () => {
    const bornMs = nowMs;
    const estimates = { finalizedMs: 15 * MINUTE_MS };
    const chains = bridgedChains().map((chain) => ({ ...chain, estimates }));
    const slow = { ...world, catalog: buildCatalog({ chains, defaultRail: "local:usdc" }) };
    await sql`update crossing set status = 'landed', mint = chain_tx, retry_at = null where movement_id > (
      select min(movement_id) from crossing)`.execute(db.root);
    const born = new Date(bornMs);
    await sql`update crossing set created_at = ${born}, retry_at = ${born} where status = 'burned'`.execute(db.root);
    const callsIn = async (fromMs: number) => {
      nowMs = bornMs + fromMs;
      await trackCrossings(slow, service);
      const before = server.requests.length;
      for (const end = nowMs + MINUTE_MS; nowMs < end; nowMs += SECOND_MS) await trackCrossings(slow, service);
      return server.requests.length - before;
    };
    const [early, expected, late] = [
      await callsIn(5 * MINUTE_MS),
      await callsIn(14 * MINUTE_MS),
      await callsIn(90 * MINUTE_MS),
    ];
    ok(early <= 13 && late <= 2, `${early} and ${late} calls in a minute`);
    ok(expected >= 50, `${expected} calls in the minute when it is expected`);
  });

  test("900 burns of one transaction are one request, small ones come after the others, and an honest burn waits for none", async () => {
    await sql`update crossing set status = 'landed', mint = chain_tx, retry_at = null`.execute(db.root);
    const [inTime, flooded] = [`0x${"7a".repeat(32)}`, `0x${"7b".repeat(32)}`];
    const at = new Date(nowMs);
    await sql`
      update crossing set status = 'burned', mint = null, reason = null, retry_at = ${at}::timestamptz - interval '1 minute', proof_tx = ${flooded}, queue = 3
      where movement_id in (select movement_id from crossing order by movement_id limit ${FLOOD})`.execute(db.root);
    await sql`
      update crossing set status = 'burned', mint = null, reason = null, retry_at = ${at}, proof_tx = ${inTime}, queue = 1
      where movement_id = (select max(movement_id) from crossing)`.execute(db.root);
    const before = server.requests.length;
    equal(await trackCrossings(world, service), FLOOD + 1);
    deepEqual(
      server.requests.slice(before).map(({ path }) => path.split("transactionHash=")[1]),
      [inTime, flooded],
    );
    const { rows: unanswered } = await sql`select from crossing where status = 'burned' and reason is null`.execute(
      db.root,
    );
    equal(unanswered.length, 0, "the one answer is for all of them");
  });

  test("of two burns that are offered one proof at the same moment, one keeps it and the other goes on", async () => {
    const proof = { message: "0x01", attestation: "0x02", mint: "cctp-v2/1/0x03", expires_at_block: null };
    await sql`update crossing set status = 'burned', mint = null`.execute(db.root);
    const [first, second] = await db.root.selectFrom("crossing").select(["movement_id", "units"]).limit(2).execute();
    ok(first !== undefined && second !== undefined);
    const [holds, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const kept = db.transaction(async (tx) => {
      await sql`
        update crossing set status = 'attested', message = ${proof.message}, attestation = ${proof.attestation}, mint = ${proof.mint}
        where movement_id = ${first.movement_id}`.execute(tx);
      holds.resolve();
      await released.promise;
    });
    await holds.promise;
    const store = () => storeProofs(db, [{ ...proof, ...second }], new Date(nowMs));
    const late = store();
    while (!(await isWaitingForRow())) continue;
    released.resolve();
    await kept;
    equal((await late).size, 0);
    equal((await store()).size, 0);
  });

  const isWaitingForRow = async (): Promise<boolean> => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db.root);
    return rows.length > 0;
  };
});
