import { Client } from "undici";

/** One call of a load; `index` counts all calls of a run. */
export type Call = { method: "GET" | "POST"; path: string; headers: Record<string, string>; body?: string };

export type LoadOptions = { port: number; connections: number; durationMs: number; call: (index: number) => Call };

/** Calls a second that were answered with 2xx, each connection sending the next when the last is answered. Throws at the first other. */
export async function load({ port, connections, durationMs, call }: LoadOptions): Promise<number> {
  let sent = 0;
  const startedMs = performance.now();
  const one = async () => {
    const client = new Client(`http://127.0.0.1:${port}`, { pipelining: 1 });
    try {
      while (performance.now() - startedMs < durationMs) {
        const { statusCode, body } = await client.request(call(sent++));
        if (statusCode >= 300) throw new Error(`${statusCode}: ${await body.text()}`);
        await body.dump();
      }
    } finally {
      await client.destroy();
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return sent / ((performance.now() - startedMs) / 1_000);
}
