import { readFileSync } from "node:fs";
import { findCctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import type { FastifyInstance } from "fastify";
import { isEvmChainConfig, type Config } from "../../config/config.ts";
import { prepareFile, sendFile } from "../sendCompressed.ts";

// The scripts that a merchant's page loads from this service: the package @tributary/sdk, built and checked in.

const NAMES = ["v1.js", "v1.global.js", "v1.element.js"];
const HEADERS = {
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
  "cache-control": "public, max-age=300",
};

/** Adds `/sdk/v1.js` and the other scripts. Any page may read them: they hold no secret. */
export function addSdkRoutes(server: FastifyInstance, config: Pick<Config, "environment" | "chains">): void {
  for (const name of NAMES) {
    const content = readFileSync(new URL(import.meta.resolve(`@tributary/sdk/${name}`)), "utf8").trimEnd();
    const file = prepareFile({ name, contentType: "text/javascript; charset=utf-8", content });
    server.get(`/sdk/${name}`, (request, reply) => sendFile(request, reply.headers(HEADERS), file));
  }
  const local = config.environment === "test" ? localBridges(config.chains) : [];
  if (local.length === 0) return;
  const content = `export const bridges = { cctpV2Chains: [${local.join()}] };`;
  const file = prepareFile({ name: LOCAL_BRIDGES, contentType: "text/javascript; charset=utf-8", content });
  server.get(`/sdk/${LOCAL_BRIDGES}`, (request, reply) => sendFile(request, reply.headers(HEADERS), file));
}

const LOCAL_BRIDGES = "local-bridges.js";

/**
 * The bridges of a local world are doubles of Circle's at addresses of their own, which no published table has. A page
 * that checks its payout names them to `expectPayout`; a live service has no such script.
 */
function localBridges(chains: Config["chains"]): string[] {
  return chains.filter(isEvmChainConfig).flatMap(({ chainId, cctp, tokens }) => {
    const usdc = tokens.find(({ bridge }) => bridge === "cctp-v2")?.address;
    if (cctp === undefined || usdc === undefined || findCctpV2Chain(BigInt(chainId)) !== undefined) return [];
    const { domain, messenger, transmitter } = cctp;
    return `{ chainId: ${chainId}n, ...${JSON.stringify({ domain, messenger, transmitter, usdc })} }`;
  });
}
