import { connect, type AddressInfo } from "node:net";
import { openTestApi, type Merchant, type TestApi } from "../support/api.ts";
import { openTestDatabase } from "../support/database.ts";
import { VERSION } from "../support/api.ts";
import { rollDice } from "./dice.ts";
import { judge } from "./judge.ts";
import { anyCase, type Case, type Known } from "./requests.ts";

export type Report = {
  requests: number;
  /** Answers by status; 0 where the connection was closed without one, as it may be where a head was cut. */
  byStatus: Map<number, number>;
  byKind: Map<string, number>;
  /** What was wrong, with the seed and the number that make the request again. */
  failures: string[];
  heapBytesFirst: number;
  heapBytesLast: number;
};

export type FuzzOptions = { seed: number; requests: number; onProgress?: (done: number) => void };

/** Requests that are on their way at once. */
const AT_ONCE = 16;
/** Creates are the scarcest: below 30 a minute for one account, whatever is drawn. */
const CALLS_A_MINUTE = 24;
const FAILURES_MAX = 20;
const ANSWER_MS_MAX = 20_000;

/** Sends malformed requests to a real server over sockets, and judges each answer. */
export async function fuzz({ seed, requests, onProgress }: FuzzOptions): Promise<Report> {
  const db = await openTestDatabase("pglite");
  const api = await openTestApi(db);
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  const report: Report = {
    requests: 0,
    byStatus: new Map(),
    byKind: new Map(),
    failures: [],
    heapBytesFirst: 0,
    heapBytesLast: 0,
  };
  try {
    const merchant = await api.openMerchant();
    const known = await knownOf(merchant);
    for (let start = 0; start < requests && report.failures.length < FAILURES_MAX; start += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, requests - start) }, (_, index) => start + index);
      await Promise.all(numbers.map((number) => one({ api, port, known, report }, seed, number)));
      if (start % CALLS_A_MINUTE < AT_ONCE) api.passTime(61_000);
      if (start % 5_000 < AT_ONCE) {
        await assertAlive(merchant, report);
        onProgress?.(start);
      }
      if (start <= requests / 4) report.heapBytesFirst = heapBytes();
    }
    await assertAlive(merchant, report);
    report.heapBytesLast = heapBytes();
    return report;
  } finally {
    await api.server.close();
    await db.close();
  }
}

type Site = { api: TestApi; port: number; known: Known; report: Report };

async function one({ port, known, report }: Site, seed: number, number: number): Promise<void> {
  const made = anyCase(rollDice(seed * 1_000_003 + number), known);
  const { status, wrong } = judge(await send(port, made), made.isAnswered);
  report.requests += 1;
  count(report.byStatus, status ?? 0);
  count(report.byKind, made.kind);
  if (wrong !== undefined)
    report.failures.push(`seed ${seed} number ${number} (${made.kind}): ${wrong}\n${shown(made)}`);
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function shown({ bytes }: Case): string {
  return `  ${JSON.stringify(bytes.toString("latin1").slice(0, 600))}`;
}

/** Everything that comes back until the server closes. What was cut short is ended, so that nobody waits for the rest. */
function send(port: number, { bytes, isAnswered }: Case): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy());
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")));
    if (isAnswered) socket.write(bytes);
    else socket.end(bytes);
  });
}

/** Between all the nonsense a good request is served. */
async function assertAlive(merchant: Merchant, report: Report): Promise<void> {
  const answered = await merchant.get("/api/v1/intents?limit=1");
  if (answered.status !== 200)
    report.failures.push(`after ${report.requests} requests a good one got ${answered.text}`);
}

async function knownOf(merchant: Merchant): Promise<Known> {
  const first = await merchant.createIntent({ priceUnits: 5 });
  const second = await merchant.createIntent();
  const page = await merchant.get("/api/v1/intents?limit=1");
  const cursor: unknown = page.body.next_cursor;
  return {
    apiKey: merchant.apiKey,
    version: VERSION,
    intentIds: [first.intentId, second.intentId, `pi_${"0".repeat(26)}`],
    cursors: [String(cursor), "", "AAAA"],
  };
}

function heapBytes(): number {
  // Without --expose-gc this is what is there now, garbage and all.
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}
