import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { systemTimer } from "../../src/kernel/clock.ts";

// A public node: it takes so many requests a second, refuses the rest, and counts all of them.

export type RationedRpc = {
  readonly url: string;
  /** Requests that it answered. */
  answered: number;
  /** Requests that it refused. */
  refused: number;
  /** Answers the next refusals in this form. */
  refusal: "status" | "error" | "silence";
  /** Requests a second; 0 refuses everything. */
  perSecond: number;
  /** Changes an answer; undefined leaves it. */
  alter: ((method: string, params: readonly unknown[], answer: unknown) => unknown) | undefined;
  close(): Promise<void>;
};

const WINDOW_MS = 1_000;
const LIMIT_EXCEEDED = -32_005;

type Call = { id: unknown; method: string; params: readonly unknown[] };

/** Opens one on its own port before the node at `upstream`. */
export async function openRationedRpc(upstream: string, perSecond: number): Promise<RationedRpc> {
  let times: number[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("access-control-allow-headers", "content-type");
      if (request.method === "OPTIONS") return void response.end();
      const nowMs = systemTimer.monotonicMs();
      times = times.filter((time) => time > nowMs - WINDOW_MS);
      const { id, method, params } = JSON.parse(body) as Call;
      if (times.length >= node.perSecond) {
        node.refused += 1;
        if (node.refusal === "silence") return void response.destroy();
        if (node.refusal === "status") return void response.writeHead(429).end("slow down");
        const error = { code: LIMIT_EXCEEDED, message: "limit exceeded" };
        return void response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      }
      times.push(nowMs);
      node.answered += 1;
      const headers = { "content-type": "application/json" };
      const answer: unknown = await (await fetch(upstream, { method: "POST", headers, body })).json();
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(node.alter?.(method, params, answer) ?? answer));
    })();
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const node: RationedRpc = {
    url: `http://127.0.0.1:${port}`,
    answered: 0,
    refused: 0,
    refusal: "status",
    perSecond,
    alter: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return node;
}
