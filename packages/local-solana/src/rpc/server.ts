import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Methods } from "./methods.ts";
import { RPC_ERRORS, RpcError, toErrorReply } from "./rpcError.ts";

// JSON-RPC over HTTP, single calls and batches. Pages of every origin may call, as on the public nodes.

/** The default of real nodes. */
const BODY_BYTES_MAX = 50 * 1024;
const HOST = "127.0.0.1";

export type RpcServer = {
  readonly server: Server;
  readonly port: number;
  /** Lets the process end while the server listens. */
  unref(): void;
  close(): Promise<void>;
};

export async function startRpcServer(methods: Methods, port: number): Promise<RpcServer> {
  const server = createServer((request, response) => {
    void serve(methods, request, response).catch(() => request.socket.destroy());
  });
  server.listen(port, HOST);
  await once(server, "listening");
  return {
    server,
    port: (server.address() as AddressInfo).port,
    unref: () => {
      server.unref();
      server.on("connection", (socket) => socket.unref());
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function serve(methods: Methods, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-allow-headers", "*");
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  if (request.method === "GET" && request.url === "/health") return void response.end("ok");
  if (request.method !== "POST")
    return void response.writeHead(405).end("Used HTTP Method is not allowed. POST or OPTIONS is required\n");
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413).end("Payload Too Large\n");
  const text = answerText(methods, body);
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.end(text);
}

/** Undefined when it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The reply to a call or a batch; empty when all of it are notifications. */
export function answerText(methods: Methods, body: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return writeJson({ jsonrpc: "2.0", error: { code: RPC_ERRORS.parseError, message: "Parse error" }, id: null });
  }
  if (!Array.isArray(parsed)) return writeJson(answerCall(methods, parsed) ?? "");
  const replies = parsed.flatMap((each) => answerCall(methods, each) ?? []);
  return writeJson(parsed.length === 0 ? answerCall(methods, undefined) : replies);
}

function answerCall(methods: Methods, call: unknown): object | undefined {
  const { id, method, params = [] } = (call ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  try {
    if (typeof method !== "string" || !Array.isArray(params)) throw new RpcError("invalidRequest", "Invalid request");
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (run === undefined) throw new RpcError("methodNotFound", "Method not found");
    const result = run(params as unknown[]);
    return id === undefined ? undefined : { jsonrpc: "2.0", result, id };
  } catch (error) {
    return { jsonrpc: "2.0", error: toErrorReply(error), id: id ?? null };
  }
}

/** Integers above 2^53 stay exact. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? (JSON as unknown as RawJson).rawJSON(each.toString()) : each,
  );
}

type RawJson = { rawJSON(text: string): unknown };
