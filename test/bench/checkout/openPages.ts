import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, get as httpGet, type IncomingMessage } from "node:http";
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { openDatabase } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { processMovements } from "../../../src/deposit/processMovements.ts";
import { openSession } from "../../../src/intent/checkout/session.ts";
import { createIntent } from "../../../src/intent/createIntent.ts";
import type { IntentRow } from "../../../src/intent/store.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { createAccount } from "../../../src/merchant/createAccount.ts";
import { createKey } from "../../../src/merchant/keys/createKey.ts";
import { CREATE_INTENTS } from "../../../src/merchant/keys/scopes.ts";
import type { AccountRow } from "../../../src/merchant/store.ts";
import { countMoney } from "../../support/countMoney.ts";
import { randomAddress, TEST_CHAIN } from "../../support/intents.ts";
import { recordMovements, setHead } from "../../support/movements.ts";
import { startPostgres } from "../../support/postgres.ts";
import { stationWorld, type StationWorld } from "../../support/stationWorld.ts";
import type { Served } from "../http/server.ts";
import type { PagesReport, PagesRequest } from "./pages.ts";
import { sized } from "../sized.ts";

// Measures what open checkout pages cost: the time from a deposit's counted row to the event at its page, and the API's
// response times with and without a thousand open pages. The service and the pages run in processes of their own;
// callers and payments share this one.

const PAGES = sized(1_000, 10);
/** Pages whose deposit waits for confirmations: each new block reads them again. */
const PENDING_PAGES = sized(100, 1);
const PAYMENTS = sized(100, 3);
const PAYMENT_INTERVAL_MS = 53;
const CALLS_PER_SECOND = sized(100, 10);
const RUN_MS = sized(7_000, 1_000);
const RUNS = sized(3, 1);
const BLOCK_MS = 2_000;
const PRICE_UNITS = 5_000_000;
/** Each account may read 120 intents a minute. */
const CALLERS = sized(100, 10);
/** Divides both numbers above. */
const CREATED_AT_ONCE = 10;
/** The pending deposits never become final: the last blocks are far below. */
const PENDING_BLOCK = 1_000_000n;

type OpenPage = { intent: IntentRow; cookie: string };
type Caller = { path: string; headers: Record<string, string> };

export async function benchOpenPages(): Promise<void> {
  console.log(`${PAGES} open pages, ${PENDING_PAGES} of them pending; ${cpus().length} cores, Node ${process.version}`);
  const server = await startPostgres(undefined, { isDurable: true });
  const databaseUrl = server.urlOf("postgres");
  const db = await openDatabase({ url: databaseUrl, allowUnsafeFsync: true });
  await migrate(db, { appliedAt: systemClock.now() });
  const world = stationWorld(db, { finality: [{ upToPriceUnits: undefined, finality: { confirmations: 1 } }] });
  await setHead(db, TEST_CHAIN, { number: 1n });
  const pages = await createPages(world);
  const callers = await createCallers(world);
  await sql`analyze`.execute(db.root);
  const service = await startService(databaseUrl);
  try {
    await measureEvents(world, service, pages);
    await compareApi(world, service, { pages, callers });
  } finally {
    service.child.disconnect();
    await once(service.child, "exit");
    await db.close();
    await server.remove();
  }
}

async function createMerchant(world: StationWorld): Promise<AccountRow> {
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  return createAccount(world, { name: "Bench", payout });
}

async function createPages(world: StationWorld): Promise<OpenPage[]> {
  const account = await createMerchant(world);
  const pages = await createInTurns(PAGES, async () => {
    const input = { priceUnits: PRICE_UNITS, oneTime: true };
    const { intent, widgetToken } = await createIntent(world.db.root, world, { account, input });
    const opened = await openSession(world, { intentId: intent.id, credential: { widgetToken } });
    if ("refusal" in opened) throw new Error("a new token opens a session");
    return { intent, cookie: `tributary_session=${opened.value}` };
  });
  for (const { intent } of pages.slice(0, PENDING_PAGES)) await pay(world, intent, PENDING_BLOCK);
  return pages;
}

/** Creates a few at a time, because most of a creation is the wait for the disk. */
async function createInTurns<T>(count: number, create: () => Promise<T>): Promise<T[]> {
  const created: T[] = [];
  while (created.length < count)
    created.push(...(await Promise.all(Array.from({ length: CREATED_AT_ONCE }, () => create()))));
  return created;
}

async function createCallers(world: StationWorld): Promise<Caller[]> {
  return createInTurns(CALLERS, async () => {
    const account = await createMerchant(world);
    const { apiKey } = await createKey(world, { accountId: account.id, scopes: [CREATE_INTENTS] });
    const { intent } = await createIntent(world.db.root, world, { account, input: {} });
    const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" };
    return { path: `/api/v1/intents/${intent.id}`, headers };
  });
}

async function pay(world: StationWorld, intent: IntentRow, block: bigint): Promise<void> {
  const chainTx = `0x${intent.id}`;
  await recordMovements(world.db, intent, [{ chainTx, amountUnits: BigInt(PRICE_UNITS), block }]);
  await processMovements(world, TEST_CHAIN);
}

type Service = { child: ChildProcess; port: number };

async function startService(databaseUrl: string): Promise<Service> {
  const child = fork(new URL("../http/server.ts", import.meta.url), { stdio: "inherit", execArgv: ["--no-warnings"] });
  child.send({ kind: "ours", databaseUrl } satisfies Served);
  const [port] = (await once(child, "message")) as [number];
  return { child, port };
}

/**
 * Opens all pages in a process of their own. `onPaid` is called with each payment that a page shows as paid, and the
 * time.
 */
async function openPages(
  { port }: Service,
  pages: readonly OpenPage[],
  onPaid: (intentId: string, atMs: number) => void = () => {},
): Promise<() => Promise<void>> {
  const child = fork(new URL("pages.ts", import.meta.url), { stdio: "inherit", execArgv: ["--no-warnings"] });
  const isOpen = Promise.withResolvers<void>();
  child.on("message", (report: PagesReport) => {
    if (report.kind === "open") isOpen.resolve();
    else onPaid(report.intentId, report.atMs);
  });
  child.once("exit", () => isOpen.reject(new Error("the pages have ended")));
  const opened = pages.map(({ intent, cookie }) => ({ intentId: intent.id, cookie }));
  child.send({ port, pages: opened } satisfies PagesRequest);
  await isOpen.promise;
  return async () => {
    child.disconnect();
    await once(child, "exit");
  };
}

/** From the commit of a counted deposit until its page has the event, with all pages open. */
async function measureEvents(world: StationWorld, service: Service, pages: readonly OpenPage[]): Promise<void> {
  const paid = new Map<string, (atMs: number) => void>();
  const closePages = await openPages(service, pages, (intentId, atMs) => paid.get(intentId)?.(atMs));
  const waits: number[] = [];
  for (const { intent } of pages.slice(-PAYMENTS)) {
    await delay(PAYMENT_INTERVAL_MS);
    const shown = Promise.withResolvers<number>();
    paid.set(intent.id, shown.resolve);
    await pay(world, intent, 1n);
    await countMoney(world, TEST_CHAIN);
    const countedMs = performance.timeOrigin + performance.now();
    waits.push(Math.max(0, (await shown.promise) - countedMs));
  }
  await closePages();
  console.log(`counted → event      p50 ${at(waits, 0.5)} ms   p95 ${at(waits, 0.95)} ms   slowest ${at(waits, 1)} ms`);
}

/** Reads intents at a steady rate with and without open pages, in turn. Blocks arrive all the time. */
async function compareApi(
  world: StationWorld,
  service: Service,
  { pages, callers }: { pages: readonly OpenPage[]; callers: readonly Caller[] },
): Promise<void> {
  const [without, withPages]: [number[][], number[][]] = [[], []];
  const ending = new AbortController();
  const mining = mineBlocks(world, ending.signal);
  try {
    await callAtRate(service, callers);
    for (let run = 0; run < RUNS; run += 1) {
      without.push(await callAtRate(service, callers));
      const closePages = await openPages(service, pages);
      await delay(BLOCK_MS);
      withPages.push(await callAtRate(service, callers));
      await closePages();
      await delay(BLOCK_MS);
    }
  } finally {
    ending.abort();
    await mining;
  }
  const line = (name: string, runs: number[][]) =>
    console.log(`${name.padEnd(20)} p50 ${median(runs, 0.5)} ms   p99 ${median(runs, 0.99)} ms`);
  line("API, no page open", without);
  line(`API, ${PAGES} pages open`, withPages);
  console.log(`p99 ratio            ${(Number(median(withPages, 0.99)) / Number(median(without, 0.99))).toFixed(2)}`);
}

async function mineBlocks({ db }: StationWorld, ending: AbortSignal): Promise<void> {
  for (let number = PENDING_BLOCK; !ending.aborted; number += 1n) {
    await setHead(db, TEST_CHAIN, { number });
    await systemClock.sleep(BLOCK_MS, ending);
  }
}

/** Response times in ms of calls that begin at fixed times, whatever the earlier ones take. */
async function callAtRate({ port }: Service, callers: readonly Caller[]): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const calls: Promise<number>[] = [];
  const startMs = performance.now();
  const count = (RUN_MS / 1_000) * CALLS_PER_SECOND;
  for (let index = 0; index < count; index += 1) {
    const dueMs = startMs + (index * 1_000) / CALLS_PER_SECOND;
    await delay(Math.max(0, dueMs - performance.now()));
    const caller = callers[index % callers.length];
    if (caller === undefined) throw new Error("no caller");
    calls.push(callOnce(port, agent, caller));
  }
  const waits = await Promise.all(calls);
  agent.destroy();
  return waits;
}

async function callOnce(port: number, agent: Agent, { path, headers }: Caller): Promise<number> {
  const sentMs = performance.now();
  const request = httpGet({ agent, port, host: "127.0.0.1", path, headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a call was answered with ${response.statusCode}`);
  response.resume();
  await once(response, "end");
  return performance.now() - sentMs;
}

function at(values: readonly number[], share: number): string {
  const sorted = values.toSorted((one, other) => one - other);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
}

/** The median over the runs of one quantile. */
function median(runs: readonly (readonly number[])[], share: number): string {
  return at(
    runs.map((values) => Number(at(values, share))),
    0.5,
  );
}
