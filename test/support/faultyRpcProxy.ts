import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A provider that stands before a real node and may lie, keep silent, or be away.

export type RpcRequest = { method: string; params: readonly unknown[] };
/** Bends one answer of the node; `ask` asks the node something else. */
export type AlterReply = (
  request: RpcRequest,
  answer: unknown,
  ask: (method: string, params: readonly unknown[]) => Promise<unknown>,
) => unknown;

export type FaultyRpcProxy = {
  readonly url: string;
  /** Undefined: it tells what the node tells. */
  alterReply: AlterReply | undefined;
  /** Every request is refused. */
  isDown: boolean;
  /** The node behind it. */
  upstream: string;
  close(): Promise<void>;
};

type RpcMessage = RpcRequest & { id: unknown };

/** Opens a provider of its own port before the node at `upstream`; it is honest until it is told otherwise. */
export async function openFaultyRpcProxy(upstream: string): Promise<FaultyRpcProxy> {
  const server = createServer((request, response) => void handleRequest(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const proxy: FaultyRpcProxy = {
    url: `http://127.0.0.1:${port}`,
    alterReply: undefined,
    isDown: false,
    upstream,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (proxy.isDown) {
      response.writeHead(503).end("away");
      return;
    }
    const asked = JSON.parse(await readBody(request)) as RpcMessage | RpcMessage[];
    const answered = Array.isArray(asked) ? await Promise.all(asked.map(forwardAltered)) : await forwardAltered(asked);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answered));
  }

  async function forwardAltered(message: RpcMessage): Promise<unknown> {
    const reply = await forward(message);
    if (!proxy.alterReply) return reply;
    const ask = async (method: string, params: readonly unknown[]) => (await forward({ id: 1, method, params })).result;
    const result = await proxy.alterReply(message, reply.result, ask);
    return result === reply.result ? reply : { jsonrpc: "2.0", id: message.id, result };
  }

  async function forward(message: RpcMessage): Promise<{ result?: unknown }> {
    const response = await fetch(proxy.upstream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    return (await response.json()) as { result?: unknown };
  }

  return proxy;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
