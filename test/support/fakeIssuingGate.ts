import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { encodeKey } from "@tributary/inbox/solana/keys";
import type { Gate } from "../../src/gate/gate.ts";
import { openRemoteGate } from "../../src/gate/remoteGate.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { Secret } from "../../src/kernel/secret.ts";

// A remote issuing gate: a real server whose behaviour the test chooses.

export const GATE_SECRET = "canary-secret-of-the-issuing-gate-0123456789";

export type GateRequest = {
  kind: "customers" | "inboxes";
  path: string;
  authorization: string | undefined;
  body: { intentId: string; livemode: boolean; chain: string; token?: string | null; address?: string | null };
};

/** Answers one request, or leaves it unanswered. */
export type GateBehaviour = (request: GateRequest, response: ServerResponse) => void;

export type FakeIssuingGate = {
  gate: Gate;
  /** The same gate with a short time-out. */
  gateWithShortTimeout: Gate;
  url: string;
  requests: GateRequest[];
  /** Applies to all later requests. */
  setBehaviour(behaviour: GateBehaviour): void;
  close(): Promise<void>;
};

/** Longer than a busy machine needs, and much shorter than the test's time-out. */
const TIMEOUT_MS = 30_000;
const SHORT_TIMEOUT_MS = 150;

/** By default, binds every customer and issues the address of the request. */
export async function openFakeIssuingGate(): Promise<FakeIssuingGate> {
  const requests: GateRequest[] = [];
  let behaviour: GateBehaviour = issueAlways();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url: path = "", headers } = request;
      const kind = path.startsWith("/gate/customers/") ? "customers" : "inboxes";
      const question: GateRequest = { kind, path, authorization: headers.authorization, body: JSON.parse(body) };
      requests.push(question);
      behaviour(question, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const url = `http://127.0.0.1:${address.port}/gate`;
  const secret = new Secret(GATE_SECRET);
  const gate = openRemoteGate({ url, secret, timeoutMs: TIMEOUT_MS });
  const gateWithShortTimeout = openRemoteGate({ url, secret, timeoutMs: SHORT_TIMEOUT_MS });
  return {
    gate,
    gateWithShortTimeout,
    url,
    requests,
    setBehaviour: (next) => {
      behaviour = next;
    },
    async close() {
      await Promise.all([gate.close(), gateWithShortTimeout.close()]);
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function issueAlways(): GateBehaviour {
  return ({ kind, body }, response) =>
    sendReply(response, kind === "customers" ? { verdict: "bound" } : { verdict: "issued", address: body.address });
}

function sendReply(response: ServerResponse, answer: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

/** Sends one answer to every request. */
export function replyAlways(answer: unknown, status = 200): GateBehaviour {
  return (_request, response) => sendReply(response, answer, status);
}

/** Binds every customer, and sends this answer to inbox requests. */
export function replyToInboxes(answer: (request: GateRequest) => unknown): GateBehaviour {
  return (request, response) =>
    sendReply(response, request.kind === "customers" ? { verdict: "bound" } : answer(request));
}

/** Faults of a gate that only a time-out ends, by name. */
export const SLOW_BEHAVIOURS: Readonly<Record<string, GateBehaviour>> = {
  "never answers": () => {},
  trickles: (_request, response) => {
    response.writeHead(200);
    response.write("{");
  },
};

/** Faults of a gate that show at once, by name. */
export const BROKEN_BEHAVIOURS: Readonly<Record<string, GateBehaviour>> = {
  "cuts the connection": (_request, response) => response.destroy(),
  "cuts the connection in the middle of its answer": (_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"verdict":');
    setImmediate(() => response.destroy());
  },
  "is overloaded": replyAlways({}, 503),
  "limits requests": replyAlways({ verdict: "refused" }, 429),
  "rejects the secret": replyAlways({ verdict: "refused" }, 401),
  "answers with a proxy's page": (_request, response) => response.writeHead(403).end("<html>Forbidden</html>"),
  redirects: (_request, response) => response.writeHead(302, { location: "/elsewhere" }).end(),
  "answers without JSON": (_request, response) => response.writeHead(200).end("issued"),
  "answers nothing": (_request, response) => response.writeHead(200).end(),
  "answers an unknown verdict": replyAlways({ verdict: "perhaps" }),
  "answers a list": replyAlways([{ verdict: "bound" }]),
  "answers null": replyAlways(null),
  "answers too much": (_request, response) =>
    response.writeHead(200).end(JSON.stringify({ verdict: "bound", more: "x".repeat(20_000) })),
};

export function newSolanaAddress(): string {
  return encodeKey(new Uint8Array([200, ...systemEntropy.bytes(31)]));
}
