import type { FastifyInstance } from "fastify";
import { openApiDocument } from "./document.ts";

/** `/openapi.json`: the document, for programs on any page to read. */
export function addOpenApi(server: FastifyInstance, baseUrl: string): void {
  const text = JSON.stringify(openApiDocument(baseUrl));
  server.get("/openapi.json", (_request, reply) =>
    reply
      .headers({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "public, max-age=300",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
      })
      .send(text),
  );
}
