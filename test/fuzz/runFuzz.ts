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
import { findEchoMismatch } from "./findEchoMismatch.ts";
import { createSeededRandom } from "./seededRandom.ts";
import { checkAnswer } from "./checkAnswer.ts";
import { generateCase, type FuzzCase, type FuzzTargets } from "./generateCase.ts";

export type Report = {
  requests: number;
  /** Answers by status; 0 for a connection that closed without one, which an incomplete head allows. */
  byStatus: Map<number, number>;
  byKind: Map<string, number>;
  /** Accepted creates that were compared with their requests. */
  compared: number;
  /** Failures with the seed and number that reproduce the request. */
  failures: string[];
  /** Memory after a quarter of the requests, and at the end. */
  heldBytesFirst: number;
  heldBytesLast: number;
};

export type FuzzOptions = {
  seed: number;
  requests: number;
  /** The number of the first request; 0 by default. */
  from?: number;
  onProgress?: (done: number) => void;
};

/** Concurrent requests. */
const CONCURRENCY = 16;
const PROGRESS_EVERY = 1_600;
/** Advances the clock after this many requests, so that few of them meet a rate limit. */
const REQUESTS_PER_WINDOW = 32;
const FAILURES_MAX = 20;
const ANSWER_MS_MAX = 60_000;

/** Sends malformed requests to a real server over sockets and checks each answer. */
export async function runFuzz({ seed, requests, from = 0, onProgress }: FuzzOptions): Promise<Report> {
  // An in-memory database would grow with every intent and hide leaks.
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
    const targets = await createTargets(api, merchant);
    for (let done = 0; done < requests && report.failures.length < FAILURES_MAX; done += CONCURRENCY) {
      const numbers = Array.from({ length: Math.min(CONCURRENCY, requests - done) }, (_, index) => from + done + index);
      await Promise.all(numbers.map((number) => runCase({ db, port, targets, report }, seed, number)));
      if (done % REQUESTS_PER_WINDOW === 0) api.advanceTime(61_000);
      if (done % PROGRESS_EVERY === 0) {
        await assertStillServing(merchant, report);
        onProgress?.(done);
      }
      if (report.heldBytesFirst === 0 && done >= requests / 4) report.heldBytesFirst = heldBytes();
    }
    api.advanceTime(61_000);
    await assertStillServing(merchant, report);
    report.heldBytesLast = heldBytes();
    return report;
  } finally {
    await api.server.close();
    await db.close();
    await rm(directory, { recursive: true });
  }
}

type FuzzContext = { db: Db; port: number; targets: FuzzTargets; report: Report };

async function runCase({ db, port, targets, report }: FuzzContext, seed: number, number: number): Promise<void> {
  const fuzzCase = generateCase(createSeededRandom(seed * 1_000_003 + number), targets);
  const verdict = checkAnswer(await send(port, fuzzCase), fuzzCase.isAnswered);
  const { status, body } = verdict;
  const isCreated = status === 201 && fuzzCase.createBody !== undefined;
  const changed = isCreated ? await findEchoMismatch(db, fuzzCase.createBody ?? Buffer.alloc(0), body) : undefined;
  const failure = verdict.failure ?? changed;
  if (isCreated) report.compared += 1;
  report.requests += 1;
  count(report.byStatus, status ?? 0);
  count(report.byKind, fuzzCase.kind);
  if (failure !== undefined)
    report.failures.push(`seed ${seed} number ${number} (${fuzzCase.kind}): ${failure}\n${formatCase(fuzzCase)}`);
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function formatCase({ bytes }: FuzzCase): string {
  return `  ${JSON.stringify(bytes.toString("latin1").slice(0, 600))}`;
}

/**
 * Returns everything received until the server closes. Ends an incomplete request, so that the server does not wait.
 */
function send(port: number, { bytes, isAnswered }: FuzzCase): Promise<string> {
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

/** Checks that a valid request still gets 200, or 429 when the fuzzing used up its limit. */
async function assertStillServing(merchant: Merchant, report: Report): Promise<void> {
  const response = await merchant.get("/api/v1/intents?limit=1");
  if (response.status !== 200 && response.status !== 429)
    report.failures.push(`after ${report.requests} requests a valid one got ${response.text}`);
}

async function createTargets(api: TestApi, merchant: Merchant): Promise<FuzzTargets> {
  const first = await merchant.createIntent({ priceUnits: 5 });
  const second = await merchant.createIntent();
  const third = await merchant.createIntent();
  const archived = await merchant.insertIntent({ status: "archived", archived_at: api.world.clock.now() });
  const page = await merchant.get("/api/v1/intents?limit=1");
  const cursor: unknown = page.body.next_cursor;
  const unscoped = await api.openMerchant({ scopes: [] });
  const expired = await api.openMerchant({ expiresAt: api.world.clock.now() });
  const { apiKey } = merchant;
  return {
    apiKey,
    invalidKeys: [unscoped.apiKey, expired.apiKey, `${apiKey.slice(0, -1)}x`, apiKey.toUpperCase(), "", `${apiKey} x`],
    version: VERSION,
    intentIds: [first.intentId, second.intentId, first.intentId, second.intentId, archived.id, UNKNOWN_ID],
    archivableIds: [third.intentId, archived.id, UNKNOWN_ID],
    cursors: [String(cursor), "", "AAAA"],
    widgetTokens: [first.widgetToken, second.widgetToken],
    payoutTarget: {
      wallet: merchant.wallet,
      chainReference: String(SETTLE_CHAIN_ID),
      token: USDC,
      chainId: SETTLE_CHAIN_ID,
    },
  };
}

/** Memory in use; without --expose-gc it includes garbage. */
function heldBytes(): number {
  (globalThis as { gc?: () => void }).gc?.();
  // Excludes PGlite's own memory.
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
