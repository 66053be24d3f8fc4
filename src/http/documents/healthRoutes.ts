import type { FastifyInstance } from "fastify";
import { countHeldForAgreement } from "../../deposit/agreement/verificationStore.ts";
import { countDifferences } from "../../watch/reconcile/balanceStore.ts";
import type { World } from "../../world.ts";

/**
 * Adds probes for operators: `/healthz` checks the process, `/readyz` also its database. Alarms appear in the body and do not change the
 * status, because a restart does not clear them.
 */
export function addHealthRoutes(server: FastifyInstance, world: World): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    const alarms = await listAlarms(world).catch(() => undefined);
    return reply
      .code(alarms ? 200 : 503)
      .header("cache-control", "no-store")
      .send(alarms ? { status: "ok", ...(alarms.length > 0 ? { alarms } : {}) } : { status: "database unavailable" });
  });
}

type Alarm = { alarm: string; chain: string } & ({ deposits: number } | { balances: number });

async function listAlarms({ db }: World): Promise<Alarm[]> {
  const [heldDeposits, differences] = await Promise.all([countHeldForAgreement(db), countDifferences(db)]);
  return [
    ...heldDeposits.map(({ reason, chain, count }) => ({ alarm: reason, chain, deposits: Number(count) })),
    ...differences.map(({ chain, count }) => ({ alarm: "balance_differs", chain, balances: Number(count) })),
  ];
}
