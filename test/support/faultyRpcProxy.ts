import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A proxy before a real node that can alter replies, delay them or refuse requests.

export type RpcRequest = { method: string; params: readonly unknown[] };
/** Alters one reply of the node. `ask` sends another request to the node. */
export type AlterReply = (
  request: RpcRequest,
  answer: unknown,
  ask: (method: string, params: readonly unknown[]) => Promise<unknown>,
) => unknown;

export type FaultyRpcProxy = {
  readonly url: string;
  /** Undefined: the proxy forwards the node's replies unchanged. */
  alterReply: AlterReply | undefined;
  /** True: the proxy refuses every request. */
  isDown: boolean;
  /** The URL of the real node. */
  upstream: string;
  close(): Promise<void>;
};

type RpcMessage = RpcRequest & { id: unknown };

/** Opens a proxy on its own port before the node at `upstream`. It forwards everything until `alterReply` is set. */
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
    const message = JSON.parse(await readBody(request)) as RpcMessage | RpcMessage[];
    const answered = Array.isArray(message)
      ? await Promise.all(message.map(forwardAltered))
      : await forwardAltered(message);
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
