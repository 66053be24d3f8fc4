import { sql } from "kysely";
import type { FastifyInstance } from "fastify";
import type { World } from "../../world.ts";

/** For whoever runs the service: `/healthz` says that the process answers, `/readyz` that its database does too. */
export function addHealth(server: FastifyInstance, world: World): void {
  server.get("/healthz", (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    const isReady = await sql`select 1`.execute(world.db.read).then(
      () => true,
      () => false,
    );
    return reply
      .code(isReady ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status: isReady ? "ok" : "database unavailable" });
  });
}
