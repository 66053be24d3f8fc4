import type { FastifyInstance } from "fastify";
import { countHeldForAgreement, type HeldForAgreement } from "../../deposit/store.ts";
import type { World } from "../../world.ts";

/**
 * For whoever runs the service: `/healthz` says that the process answers, `/readyz` that its database does too. An alarm makes nobody
 * less ready; it is told beside the status.
 */
export function addHealthRoutes(server: FastifyInstance, world: World): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    const held = await countHeldForAgreement(world.db).catch(() => undefined);
    return reply
      .code(held ? 200 : 503)
      .header("cache-control", "no-store")
      .send(held ? { status: "ok", ...listAlarms(held) } : { status: "database unavailable" });
  });
}

function listAlarms(held: readonly HeldForAgreement[]): {
  alarms?: { alarm: string; chain: string; deposits: number }[];
} {
  if (held.length === 0) return {};
  return { alarms: held.map(({ reason, chain, count }) => ({ alarm: reason, chain, deposits: Number(count) })) };
}
