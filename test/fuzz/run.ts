import { mkdtemp, rm } from "node:fs/promises";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  SETTLE_CHAIN_ID,
  UNKNOWN_ID,
  USDC,
  VERSION,
  openTestApi,
  type Merchant,
  type TestApi,
} from "../support/api.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { echoFault } from "./echo.ts";
import { rollDice } from "./dice.ts";
import { judge } from "./judge.ts";
import { anyCase, type Case, type Known } from "./requests.ts";

export type Report = {
  requests: number;
  /** Answers by status; 0 where the connection was closed without one, as it may be where a head was cut. */
  byStatus: Map<number, number>;
  byKind: Map<string, number>;
  /** Creates that were accepted and compared with what was sent. */
  compared: number;
  /** What was wrong, with the seed and the number that make the request again. */
  failures: string[];
  /** Measured when a quarter was done, and at the end. */
  heldBytesFirst: number;
  heldBytesLast: number;
};

export type FuzzOptions = {
  seed: number;
  requests: number;
  /** The number of the first request; 0 when left out. */
  from?: number;
  onProgress?: (done: number) => void;
};

/** Requests that are on their way at once. */
const AT_ONCE = 16;
const PROGRESS_EVERY = 1_600;
/** An account's calls are let off so often, below what it may create in a minute; now and then it is refused all the same. */
const LIMITS_LAST = 32;
const FAILURES_MAX = 20;
const ANSWER_MS_MAX = 20_000;

/** Sends malformed requests to a real server over sockets, and judges each answer. */
export async function fuzz({ seed, requests, from = 0, onProgress }: FuzzOptions): Promise<Report> {
  // Files in memory would be memory that grows, with every intent that is made.
  const directory = await mkdtemp(join(tmpdir(), "tributary-fuzz-"));
  const db = await openDatabase({ directory });
  await migrate(db, { appliedAt: new Date() });
  const api = await openTestApi(db);
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  const report: Report = {
    requests: 0,
    byStatus: new Map(),
    byKind: new Map(),
    compared: 0,
    failures: [],
    heldBytesFirst: 0,
    heldBytesLast: 0,
  };
  try {
    const merchant = await api.openMerchant();
    const known = await knownOf(api, merchant);
    for (let done = 0; done < requests && report.failures.length < FAILURES_MAX; done += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, requests - done) }, (_, index) => from + done + index);
      await Promise.all(numbers.map((number) => one({ db, port, known, report }, seed, number)));
      if (done % LIMITS_LAST === 0) api.passTime(61_000);
      if (done % PROGRESS_EVERY === 0) {
        await assertAlive(merchant, report);
        onProgress?.(done);
      }
      if (report.heldBytesFirst === 0 && done >= requests / 4) report.heldBytesFirst = heldBytes();
    }
    api.passTime(61_000);
    await assertAlive(merchant, report);
    report.heldBytesLast = heldBytes();
    return report;
  } finally {
    await api.server.close();
    await db.close();
    await rm(directory, { recursive: true });
  }
}

type Site = { db: Db; port: number; known: Known; report: Report };

async function one({ db, port, known, report }: Site, seed: number, number: number): Promise<void> {
  const made = anyCase(rollDice(seed * 1_000_003 + number), known);
  const verdict = judge(await send(port, made), made.isAnswered);
  const { status, body } = verdict;
  const isCreated = status === 201 && made.created !== undefined;
  const changed = isCreated ? await echoFault(db, made.created ?? Buffer.alloc(0), body) : undefined;
  const wrong = verdict.wrong ?? changed;
  if (isCreated) report.compared += 1;
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

/** Between all the nonsense a good request is served, unless the nonsense has used up its calls. */
async function assertAlive(merchant: Merchant, report: Report): Promise<void> {
  const answered = await merchant.get("/api/v1/intents?limit=1");
  if (answered.status !== 200 && answered.status !== 429)
    report.failures.push(`after ${report.requests} requests a good one got ${answered.text}`);
}

async function knownOf(api: TestApi, merchant: Merchant): Promise<Known> {
  const first = await merchant.createIntent({ priceUnits: 5 });
  const second = await merchant.createIntent();
  const third = await merchant.createIntent();
  const archived = await merchant.insertIntent({ status: "archived", archived_at: api.world.clock.now() });
  const page = await merchant.get("/api/v1/intents?limit=1");
  const cursor: unknown = page.body.next_cursor;
  const lacking = await api.openMerchant({ scopes: [] });
  const expired = await api.openMerchant({ expiresAt: api.world.clock.now() });
  const { apiKey } = merchant;
  return {
    apiKey,
    refusedKeys: [lacking.apiKey, expired.apiKey, `${apiKey.slice(0, -1)}x`, apiKey.toUpperCase(), "", `${apiKey} x`],
    version: VERSION,
    intentIds: [first.intentId, second.intentId, first.intentId, second.intentId, archived.id, UNKNOWN_ID],
    endedIds: [third.intentId, archived.id, UNKNOWN_ID],
    cursors: [String(cursor), "", "AAAA"],
    widgetTokens: [first.widgetToken, second.widgetToken],
    places: { wallet: merchant.wallet, chainReference: String(SETTLE_CHAIN_ID), token: USDC, chainId: SETTLE_CHAIN_ID },
  };
}

/** What is reachable; without --expose-gc, what is there. */
function heldBytes(): number {
  (globalThis as { gc?: () => void }).gc?.();
  // The embedded database's own memory is neither.
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
