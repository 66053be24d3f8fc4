import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { prepareFile, sendFile } from "../checkout/page/sendCompressed.ts";

// The scripts that a merchant's page loads from this service: the package @tributary/sdk, built and checked in.

const NAMES = ["v1.js", "v1.global.js", "v1.element.js"];
const HEADERS = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
  "cache-control": "public, max-age=300",
};

/** Adds `/sdk/v1.js` and the other scripts. Any page may read them: they hold no secret. */
export function addSdkRoutes(server: FastifyInstance): void {
  for (const name of NAMES) {
    const content = readFileSync(new URL(import.meta.resolve(`@tributary/sdk/${name}`)), "utf8").trimEnd();
    const file = prepareFile({ name, contentType: "text/javascript; charset=utf-8", content });
    server.get(`/sdk/${name}`, (request, reply) => sendFile(request, reply.headers(HEADERS), file));
  }
}
