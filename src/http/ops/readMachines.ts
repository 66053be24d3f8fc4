import { sql } from "kysely";
import type { OpsDatabase, OpsProcess } from "@tributary/dashboard/ops/opsState";
import { sampleHost } from "../../health/sampleHost.ts";
import { listProcesses } from "../../health/processStore.ts";
import type { World } from "../../world.ts";

type MachineWorld = Pick<World, "db" | "clock" | "config" | "hostMetrics">;

export async function readProcesses({ db, clock }: MachineWorld): Promise<OpsProcess[]> {
  const processes = await listProcesses(db, clock.now());
  return processes.map(({ startedAt, ...each }) => ({ ...each, startedAt: startedAt.toISOString() }));
}

type ServerRow = { size: bigint; used: number; max: number; oldest: Date | null };

/** What the database server says of itself, and how long a statement takes. */
export async function readDatabase(world: MachineWorld): Promise<OpsDatabase> {
  const { db, clock, hostMetrics } = world;
  const startedMs = clock.monotonicMs();
  await sql`select 1`.execute(db.root);
  const answerMs = clock.monotonicMs() - startedMs;
  const host = hostMetrics === undefined ? undefined : await sampleHost(world, hostMetrics);
  const server = db.kind === "postgres" ? await readServer(db) : undefined;
  const oldest = server?.oldest ?? null;
  return {
    kind: db.kind,
    answerMs,
    sizeBytes: server === undefined ? null : Number(server.size),
    connections: server === undefined ? null : { used: server.used, max: server.max },
    oldestTransactionMs: oldest === null ? null : Math.max(0, clock.now().getTime() - oldest.getTime()),
    freeBytes: host?.freeBytes === undefined ? null : Number(host.freeBytes),
    clockDifferenceMs: host === undefined ? null : Math.round(Math.abs(host.clockDifferenceMs)),
  };
}

async function readServer(db: World["db"]): Promise<ServerRow | undefined> {
  const { rows } = await sql<ServerRow>`
    select pg_database_size(current_database()) as size, current_setting('max_connections')::int as max,
      (select sum(numbackends)::int from pg_stat_database) as used,
      (select min(xact_start) from pg_stat_activity
        where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()) as oldest`.execute(db.root);
  return rows[0];
}
