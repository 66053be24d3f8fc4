import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Gate } from "../../src/gate/gate.ts";
import { openRemoteGate } from "../../src/gate/remoteGate.ts";
import { encodeBase58 } from "./encodeBase58.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { Secret } from "../../src/kernel/secret.ts";

// Somebody else's issuing gate: a real server, which does with a question whatever the test has told it to.

export const GATE_SECRET = "canary-secret-of-the-issuing-gate-0123456789";

export type GateRequest = {
  kind: "customers" | "inboxes";
  path: string;
  authorization: string | undefined;
  body: { intentId: string; livemode: boolean; chain: string; token?: string | null; address?: string | null };
};

/** Answers one question, or leaves it unanswered. */
export type GateBehaviour = (asked: GateRequest, response: ServerResponse) => void;

export type FakeIssuingGate = {
  gate: Gate;
  /** The same gate, for whoever waits only a moment. */
  gateWithShortTimeout: Gate;
  url: string;
  requests: GateRequest[];
  /** From now on. */
  setBehaviour(behaviour: GateBehaviour): void;
  close(): Promise<void>;
};

/** Longer than a busy machine takes, and much shorter. */
const TIMEOUT_MS = 30_000;
const SHORT_TIMEOUT_MS = 150;

/** Binds everybody and issues what it is asked for: the address it is told, or a new one for each intent and mint, always the same. */
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
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
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
  const issued = new Map<string, string>();
  return ({ kind, body }, response) => {
    if (kind === "customers") return sendReply(response, { verdict: "bound" });
    const key = `${body.intentId} ${body.chain} ${body.token}`;
    const known = body.address ?? issued.get(key) ?? newSolanaAddress();
    issued.set(key, known);
    return sendReply(response, { verdict: "issued", address: known });
  };
}

function sendReply(response: ServerResponse, answer: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

/** One answer to every question. */
export function replyAlways(answer: unknown, status = 200): GateBehaviour {
  return (_asked, response) => sendReply(response, answer, status);
}

/** Binds every customer, and answers so when it is asked for an inbox. */
export function replyToInboxes(answer: (asked: GateRequest) => unknown): GateBehaviour {
  return (asked, response) => sendReply(response, asked.kind === "customers" ? { verdict: "bound" } : answer(asked));
}

/** What a gate does that is not well, by name. */
export const SLOW_BEHAVIOURS: Readonly<Record<string, GateBehaviour>> = {
  "never answers": () => {},
  trickles: (_asked, response) => {
    response.writeHead(200);
    response.write("{");
  },
};

/** The same for gates whose fault shows at once. */
export const BROKEN_BEHAVIOURS: Readonly<Record<string, GateBehaviour>> = {
  "cuts the connection": (_asked, response) => response.destroy(),
  "cuts the connection in the middle of its answer": (_asked, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write('{"verdict":');
    setImmediate(() => response.destroy());
  },
  "is overloaded": replyAlways({}, 503),
  "wants fewer questions": replyAlways({ verdict: "refused" }, 429),
  "knows us not": replyAlways({ verdict: "refused" }, 401),
  "is a proxy's page": (_asked, response) => response.writeHead(403).end("<html>Forbidden</html>"),
  redirects: (_asked, response) => response.writeHead(302, { location: "/elsewhere" }).end(),
  "says no JSON": (_asked, response) => response.writeHead(200).end("issued"),
  "says nothing": (_asked, response) => response.writeHead(200).end(),
  "says a verdict that there is not": replyAlways({ verdict: "perhaps" }),
  "says a list": replyAlways([{ verdict: "bound" }]),
  "says null": replyAlways(null),
  "says too much": (_asked, response) =>
    response.writeHead(200).end(JSON.stringify({ verdict: "bound", more: "x".repeat(20_000) })),
};

export function newSolanaAddress(): string {
  return encodeBase58(new Uint8Array([200, ...systemEntropy.bytes(31)]));
}
