import type { FastifyInstance } from "fastify";
import { prepareDocument, sendFile, type ServedFile } from "../../sendCompressed.ts";
import { buildOpenApiDocument } from "./openApiDocument.ts";

const CONTENT_TYPE = "application/json; charset=utf-8";

/** Serves `/openapi.json` to pages of any origin. The first request builds it. */
export function addOpenApiRoute(server: FastifyInstance, baseUrl: string): void {
  let prepared: Promise<ServedFile> | undefined;
  server.get("/openapi.json", async (request, reply) => {
    prepared ??= prepareDocument(CONTENT_TYPE, JSON.stringify(buildOpenApiDocument(baseUrl)));
    const file = await prepared;
    reply.headers({
      "cache-control": "public, max-age=300",
      "access-control-allow-origin": "*",
      "x-content-type-options": "nosniff",
    });
    return sendFile(request, reply, file);
  });
}
