import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A provider that stands before a real node and may lie, keep silent, or be away.

export type RpcRequest = { method: string; params: readonly unknown[] };
/** Bends one answer of the node; `ask` asks the node something else. */
export type Lie = (
  request: RpcRequest,
  answer: unknown,
  ask: (method: string, params: readonly unknown[]) => Promise<unknown>,
) => unknown;

export type Liar = {
  readonly url: string;
  /** Undefined: it tells what the node tells. */
  lie: Lie | undefined;
  /** Every request is refused. */
  isAway: boolean;
  /** The node behind it. */
  upstream: string;
  close(): Promise<void>;
};

type RpcMessage = RpcRequest & { id: unknown };

/** Opens a provider of its own port before the node at `upstream`; it is honest until it is told otherwise. */
export async function openLiar(upstream: string): Promise<Liar> {
  const server = createServer((request, response) => void answerTo(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const liar: Liar = {
    url: `http://127.0.0.1:${port}`,
    lie: undefined,
    isAway: false,
    upstream,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (liar.isAway) {
      response.writeHead(503).end("away");
      return;
    }
    const asked = JSON.parse(await bodyOf(request)) as RpcMessage | RpcMessage[];
    const answered = Array.isArray(asked) ? await Promise.all(asked.map(bent)) : await bent(asked);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answered));
  }

  async function bent(message: RpcMessage): Promise<unknown> {
    const honest = await send(message);
    if (!liar.lie) return honest;
    const ask = async (method: string, params: readonly unknown[]) => (await send({ id: 1, method, params })).result;
    const result = await liar.lie(message, honest.result, ask);
    return result === honest.result ? honest : { jsonrpc: "2.0", id: message.id, result };
  }

  async function send(message: RpcMessage): Promise<{ result?: unknown }> {
    const response = await fetch(liar.upstream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    return (await response.json()) as { result?: unknown };
  }

  return liar;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
