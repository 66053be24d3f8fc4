import type { FastifyInstance } from "fastify";
import { buildOpenApiDocument } from "./openApiDocument.ts";

/** `/openapi.json`: the document, for programs on any page to read. It is made when it is asked for the first time. */
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
