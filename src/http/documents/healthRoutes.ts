import type { FastifyInstance } from "fastify";
import { countHeldForAgreement, type HeldForAgreement } from "../../deposit/agreement/verificationStore.ts";
import type { World } from "../../world.ts";

/**
 * Adds probes for operators: `/healthz` checks the process, `/readyz` also its database. Alarms appear in the body and do not change the
 * status, because a restart does not clear them.
 */
export function addHealthRoutes(server: FastifyInstance, world: World): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    const heldDeposits = await countHeldForAgreement(world.db).catch(() => undefined);
    return reply
      .code(heldDeposits ? 200 : 503)
      .header("cache-control", "no-store")
      .send(heldDeposits ? { status: "ok", ...listAlarms(heldDeposits) } : { status: "database unavailable" });
  });
}

function listAlarms(heldDeposits: readonly HeldForAgreement[]): {
  alarms?: { alarm: string; chain: string; deposits: number }[];
} {
  if (heldDeposits.length === 0) return {};
  return {
    alarms: heldDeposits.map(({ reason, chain, count }) => ({ alarm: reason, chain, deposits: Number(count) })),
  };
}
