import { once } from "node:events";
import { Agent, get as httpGet, type IncomingMessage } from "node:http";
import process from "node:process";

// Keeps pages open in a process of its own, until the parent disconnects, and reports what they show.

export type PagesRequest = { port: number; pages: { intentId: string; cookie: string }[] };
/** `atMs` is a Unix time. */
export type PagesReport = { kind: "open" } | { kind: "paid"; intentId: string; atMs: number };

const OPEN_CONCURRENCY = 50;
const HOSTS_A_NETWORK = 250;

process.once("message", (request: PagesRequest) => void openAll(request));
process.once("disconnect", () => process.exit());

async function openAll({ port, pages }: PagesRequest): Promise<void> {
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  for (let start = 0; start < pages.length; start += OPEN_CONCURRENCY) {
    const opening = pages.slice(start, start + OPEN_CONCURRENCY).map(async ({ intentId, cookie }, index) => {
      const number = start + index;
      // Payers have addresses of their own, and each has its limit.
      const localAddress = `127.1.${Math.floor(number / HOSTS_A_NETWORK)}.${(number % HOSTS_A_NETWORK) + 1}`;
      const path = `/c/${intentId}/events`;
      const request = httpGet({ agent, port, host: "127.0.0.1", localAddress, path, headers: { cookie } });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`);
      const isFirst = Promise.withResolvers<void>();
      response.on("data", (chunk: Buffer) => {
        const text = chunk.toString();
        if (text.includes("event: state")) isFirst.resolve();
        if (text.includes('"stage":"paid"'))
          report({ kind: "paid", intentId, atMs: performance.timeOrigin + performance.now() });
      });
      await isFirst.promise;
    });
    await Promise.all(opening);
  }
  report({ kind: "open" });
}

function report(message: PagesReport): void {
  process.send?.(message);
}
