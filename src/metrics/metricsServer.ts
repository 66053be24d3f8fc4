import { fastify, type FastifyInstance } from "fastify";
import type { MetricsConfig } from "../config/config.ts";
import { renderMetrics, type MetricsWorld } from "./metrics.ts";

/**
 * Serves `GET /metrics` on a port of its own, without authentication, beside the pages that `extend` adds. Rejects when
 * it cannot listen there.
 */
export async function startMetricsServer(
  world: MetricsWorld,
  { host, port }: MetricsConfig,
  extend?: (server: FastifyInstance) => void,
): Promise<FastifyInstance> {
  const server: FastifyInstance = fastify({ logger: false, forceCloseConnections: true });
  extend?.(server);
  server.get("/metrics", async (_request, reply) => {
    try {
      const { contentType, text } = await renderMetrics(world);
      return await reply.header("content-type", contentType).send(text);
    } catch {
      return reply.code(503).send("the database does not answer\n");
    }
  });
  await server.listen({ host, port });
  return server;
}
