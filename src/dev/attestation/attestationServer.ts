import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import type { BridgeSide } from "../chains/bridge.ts";
import { evmSide, type AttestedSide } from "./attestedSide.ts";
import { LocalAttestation, type AttestationSettings } from "./localAttestation.ts";

// The paths, answers and limits of Circle's attestation service.

const HOST = "127.0.0.1";
const REQUESTS_A_SECOND_MAX = 35;
const BLOCKED_MS = 300_000;
const SECOND_MS = 1_000;
const REQUESTS_KEPT_MAX = 10_000;

export type AttestationServer = {
  url: string;
  settings: AttestationSettings;
  /** The last requests: each one's path and when it came, in milliseconds. */
  requests: { path: string; at: number }[];
  /** How many requests were refused with status 429. */
  refusedCount(): number;
  /** False answers nothing: every connection is closed. */
  setAnswering(isAnswering: boolean): void;
  stop(): Promise<void>;
};

export type AttestationOptions = {
  /** Milliseconds of the chains' time. */
  now: () => number;
  port?: number;
  /** Chains of other kinds. */
  others?: readonly AttestedSide[];
};

/** Starts the service on a free port. */
export async function startAttestationServer(
  sides: readonly BridgeSide[],
  { now, port = 0, others = [] }: AttestationOptions,
): Promise<AttestationServer> {
  const attestation = new LocalAttestation([...sides.map(evmSide), ...others], now);
  const requests: AttestationServer["requests"] = [];
  let isAnswering = true;
  let blockedUntil = 0;
  let refused = 0;
  const isLimited = (at: number): boolean => {
    if (requests.filter((request) => request.at > at - SECOND_MS).length > REQUESTS_A_SECOND_MAX)
      blockedUntil = at + BLOCKED_MS;
    return at < blockedUntil;
  };
  const server = createServer((request, response) => {
    const at = now();
    requests.push({ path: request.url ?? "", at });
    if (requests.length > REQUESTS_KEPT_MAX) requests.splice(0, requests.length - REQUESTS_KEPT_MAX);
    if (!isAnswering) return void request.socket.destroy();
    if (isLimited(at)) {
      refused += 1;
      return answer(response, 429, { error: "Too many requests" });
    }
    handle(attestation, request, response).catch((error: unknown) => answer(response, 500, { error: String(error) }));
  });
  server.listen(port, HOST);
  await once(server, "listening");
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    settings: attestation.settings,
    requests,
    refusedCount: () => refused,
    setAnswering: (value) => {
      isAnswering = value;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function handle(
  attestation: LocalAttestation,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", `http://${HOST}`);
  const [, version, kind, ...rest] = pathname.split("/");
  const notFound = () => answer(response, 404, { error: "Not found" });
  if (version !== "v2") return notFound();
  if (request.method === "POST" && kind === "reattest") {
    const nonce = rest[0] as Hex;
    switch (attestation.renew(nonce)) {
      case "renewed":
        return answer(response, 200, { message: "Re-attestation successfully requested for nonce.", nonce });
      case "refused":
        return answer(response, 400, { code: 400, error: "Message is not eligible for re-attestation" });
      case "unknown":
        return notFound();
    }
  }
  if (request.method !== "GET") return notFound();
  if (kind === "messages") {
    const messages = await attestation.messagesOf(Number(rest[0]), searchParams.get("transactionHash") ?? "");
    return messages.length === 0 ? notFound() : answer(response, 200, { messages });
  }
  if (kind === "burn" && rest[0] === "USDC" && rest[1] === "fees") {
    const { fastFeeBps, standardFeeBps } = attestation.settings;
    return answer(response, 200, [
      { finalityThreshold: 1_000, minimumFee: fastFeeBps },
      { finalityThreshold: 2_000, minimumFee: standardFeeBps },
    ]);
  }
  notFound();
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
