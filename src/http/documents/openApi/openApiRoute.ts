import type { FastifyInstance } from "fastify";
import { buildOpenApiDocument } from "./openApiDocument.ts";

/** Serves `/openapi.json` to pages of any origin. The first request builds it. */
export function addOpenApiRoute(server: FastifyInstance, baseUrl: string): void {
  let rendered: string | undefined;
  server.get("/openapi.json", (_request, reply) =>
    reply
      .headers({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "public, max-age=300",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
      })
      .send((rendered ??= JSON.stringify(buildOpenApiDocument(baseUrl)))),
  );
}
