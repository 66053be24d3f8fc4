import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { ActiveAlarm } from "../../alarm/alarm.ts";
import { listActiveAlarms } from "../../alarm/updateAlarms.ts";
import { DatabaseReadOnly } from "../../db/errors.ts";
import { IS_READ_ONLY } from "../../db/postgres/serverChecks.ts";
import type { World } from "../../world.ts";
import type { Leaving } from "../wire/leaving.ts";

const RETRY_AFTER_S = 5;

type HealthWorld = Pick<World, "db" | "clock" | "config" | "memory">;

/**
 * Adds probes for operators: `/healthz` checks the process, `/readyz` also its database. A process that leaves is not
 * ready. With alarms the status text is `degraded`, and the status code stays 200, because a restart does not clear
 * them. Anybody may ask, so the alarms themselves are shown elsewhere.
 */
export function addHealthRoutes(server: FastifyInstance, world: HealthWorld, leaving: Leaving): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    if (leaving.isLeaving) return reply.code(503).header("cache-control", "no-store").send({ status: "stopping" });
    const alarms = await readAlarms(world).catch(() => undefined);
    reply.code(alarms === undefined ? 503 : 200).header("cache-control", "no-store");
    if (alarms === undefined)
      return reply.header("retry-after", RETRY_AFTER_S).send({ status: "database unavailable" });
    return reply.send({ status: alarms.length === 0 ? "ok" : "degraded" });
  });
}

/** Rejects when the database does not answer, or only allows reads. */
async function readAlarms(world: HealthWorld): Promise<ActiveAlarm[]> {
  const { rows } = await sql<{ isReadOnly: boolean }>`select ${sql.raw(IS_READ_ONLY)} as "isReadOnly"`.execute(
    world.db.root,
  );
  if (rows[0]?.isReadOnly !== false) throw new DatabaseReadOnly();
  return listActiveAlarms(world);
}
