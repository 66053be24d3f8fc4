import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { ensureDeployment } from "../../src/intent/deployment.ts";
import { encodeCursor } from "../../src/kernel/cursor.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { CREATE_INTENTS } from "../../src/merchant/keys/scopes.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { insertIntent, randomAddress } from "../support/intents.ts";
import { startPostgres } from "../support/postgres.ts";
import { stationWorld, type StationWorld } from "../support/stationWorld.ts";
import { median } from "./detect/statistics.ts";
import { bindToCore, cpuUsOf } from "./cpuTime.ts";
import { copyIntents } from "./http/copies.ts";
import { compareEmbedded } from "./http/embedded.ts";
import { load, requestText, type Call } from "./http/load.ts";
import { pgbench } from "./http/pgbench.ts";
import type { Served } from "./http/server.ts";
import { createStatement, getStatement, listStatement, pgbenchScript, uniquePlaces } from "./http/statements.ts";

// Measures the cost of checks, limits and the record: the real server, a bare server that runs the same statement, and
// pgbench, which runs only the statement. All use one PostgreSQL with fsync, in turn, several times.
// The server has one core; the database shares the other one with the load: pgbench or the callers.

const PARTS = ["create", "get", "list", "depth", "embedded"] as const;
const CALLS = ["create", "get", "list"] as const;
const RUNS = 5;
const RUN_MS = 2_000;
const CONNECTIONS = 16;
const WARM_UP_CALLS = 4_000;
const SERVER_CORE = 0;
const DATABASE_CORE = 1;
/** Enough accounts to stay below the limits: 30 creates, 60 lists and 120 reads a minute. */
const ACCOUNTS = 3_000;
const OPEN_CONCURRENCY = 8;
const CREATES_IN_A_BURST = 25;
const GETS_IN_A_BURST = 100;
const LISTS_IN_A_BURST = 50;
/** Intents of each merchant before the measurements. */
const INTENTS_AT_FIRST = 10;
const LISTED = 110_000;
/** Rows per insert, within the statement timeout. */
const LIST_CONCURRENCY = 5_000;
const FILL_CONCURRENCY = 500;
const PAGE = 10;
const PAGES_DEEP = 10_000;
const PAGE_READS = 25;

type Caller = { account: AccountRow; headers: Record<string, string>; intentId: string };
type Part = (typeof PARTS)[number];
type CallName = (typeof CALLS)[number];
type Options = { only: ReadonlySet<Part>; runs: number; accounts: number; profiles: string | undefined };
type HttpBenchContext = {
  options: Options;
  databaseUrl: string;
  databaseId: number;
  db: Db;
  world: StationWorld;
  callers: Caller[];
};
type Server = { child: ChildProcess; port: number };

/** Calls per second, and CPU time per call. */
type Figure = { rate: number; serverUs: number; databaseUs: number };

const USAGE = `Usage: npm run bench -- http [--only=${PARTS.join()}] [--runs=${RUNS}] [--accounts=${ACCOUNTS}] [--profiles=FOLDER]
  --only      comma-separated parts; all parts by default
  --accounts  merchants that call in turn; fewer meet their limits
  --runs      runs per side; the output shows medians
  --profiles  writes a CPU profile of our server into FOLDER`;

export async function benchHttp(): Promise<void> {
  const options = readOptions();
  if (options === undefined) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  if ([...CALLS, "depth" as const].some((part) => options.only.has(part))) await onPostgres(options);
  if (options.only.has("embedded")) await compareEmbedded(options.runs);
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      only: { type: "string", default: PARTS.join() },
      runs: { type: "string", default: String(RUNS) },
      accounts: { type: "string", default: String(ACCOUNTS) },
      profiles: { type: "string" },
    },
  });
  const accounts = Number(values.accounts);
  const named = values.only.split(",");
  const only = new Set(PARTS.filter((part) => named.includes(part)));
  const runs = Number(values.runs);
  const isValid = only.size === named.length && runs >= 1 && accounts >= 1;
  return isValid ? { only, runs, accounts, profiles: values.profiles } : undefined;
}

async function onPostgres(options: Options): Promise<void> {
  console.log(
    `medians of ${options.runs} runs of ${RUN_MS} ms, ${CONNECTIONS} connections, ${cpus().length} cores, Node ${process.version}`,
  );
  // The database inherits this core, so the binding comes first.
  if (!bindToCore(process.pid, DATABASE_CORE)) console.log("core binding is unavailable: ratios are less precise");
  const server = await startPostgres(undefined, { isDurable: true });
  const databaseUrl = server.urlOf("postgres");
  const databaseId = server.processId;
  const db = await openDatabase({ url: databaseUrl });
  try {
    await migrate(db, { appliedAt: systemClock.now() });
    const world = stationWorld(db);
    const site = { options, databaseUrl, databaseId, db, world, callers: await openCallers(world, options.accounts) };
    if (CALLS.some((call) => options.only.has(call))) await compareCalls(site);
    if (options.only.has("depth")) await compareDepth(site);
  } finally {
    await db.close();
    await server.remove();
  }
}

async function openCallers(world: StationWorld, count: number): Promise<Caller[]> {
  const callers: Caller[] = [];
  while (callers.length < count) {
    const opening = Array.from({ length: OPEN_CONCURRENCY }, () => openCaller(world));
    callers.push(...(await Promise.all(opening)));
  }
  return callers;
}

async function openCaller(world: StationWorld): Promise<Caller> {
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  const account = await createAccount(world, { name: "Bench", payout });
  const { apiKey } = await createKey(world, { accountId: account.id, scopes: [CREATE_INTENTS] });
  const { id } = await insertIntent(world.db, { account_id: account.id });
  return {
    account,
    intentId: id,
    headers: { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" },
  };
}

async function compareCalls(site: HttpBenchContext): Promise<void> {
  const { options, databaseUrl, db, world, callers } = site;
  const [first] = callers;
  if (first === undefined) throw new Error("no account");
  await ensureDeployment(world);
  const create = await createStatement({ ...world, db }, first.account);
  const places = uniquePlaces(create);
  const get = await getStatement({ accountId: first.account.id, intentId: first.intentId });
  const list = await listStatement({ accountId: first.account.id, limit: PAGE });
  const intentIds = callers.map(({ intentId }) => intentId);
  for (let from = 0; from < intentIds.length; from += FILL_CONCURRENCY)
    await copyIntents(db, intentIds.slice(from, from + FILL_CONCURRENCY), { from: 1, to: INTENTS_AT_FIRST - 1 });
  await sql`analyze intent`.execute(db.root);
  const owners = callers.flatMap(({ intentId, account, headers }): [string, string][] => [
    [intentId, account.id],
    [headers["authorization"] ?? "", account.id],
  ]);
  const ours = await serve({ kind: "ours", databaseUrl }, options.profiles);
  const bare = await serve({ kind: "bare", databaseUrl, create, places, get, list, owners });
  const calls = {
    create: buildBursts(callers, CREATES_IN_A_BURST, createCall),
    get: buildBursts(callers, GETS_IN_A_BURST, getCall),
    // In reverse order, so that no merchant sends both within a minute.
    list: buildBursts(callers.toReversed(), LISTS_IN_A_BURST, listCall),
  };
  const scripts = { create: pgbenchScript(create, places), get: pgbenchScript(get, []), list: pgbenchScript(list, []) };
  const selected = CALLS.filter((call) => options.only.has(call));
  const run = (server: Server, call: CallName) =>
    measure(site, server, () =>
      load({ port: server.port, connections: CONNECTIONS, call: runForDuration(calls[call]) }),
    );
  try {
    for (const server of [ours, bare])
      for (const call of selected)
        await load({ port: server.port, connections: CONNECTIONS, call: runRepeatedly(calls[call]) });
    const figures = { pgbench: sides(), bare: sides(), ours: sides() };
    for (let turn = 0; turn < options.runs; turn += 1) {
      for (const call of selected) {
        const script = scripts[call];
        const bench = () => pgbench(script, { databaseUrl, clients: CONNECTIONS, durationMs: RUN_MS });
        figures.pgbench[call].push(await measure(site, undefined, bench));
        figures.bare[call].push(await run(bare, call));
        figures.ours[call].push(await run(ours, call));
      }
    }
    for (const call of selected) {
      printComparison(`${call}, ours`, figures.ours[call]);
      printComparison(`${call}, bare node:http`, figures.bare[call], figures.ours[call]);
      printComparison(`${call}, pgbench`, figures.pgbench[call], figures.ours[call]);
    }
  } finally {
    await stopServer(ours);
    await stopServer(bare);
  }
}

function sides(): Record<CallName, Figure[]> {
  return { create: [], get: [], list: [] };
}

/** Each connection uses one merchant for most of a minute's limit, then the next merchant. */
function buildBursts(callers: Caller[], calls: number, textOf: (caller: Caller) => Call): (connection: number) => Call {
  const texts = callers.map(textOf);
  let next = 0;
  const bursts = Array.from({ length: CONNECTIONS }, () => ({ text: "", left: 0 }));
  return (connection) => {
    const burst = bursts[connection];
    if (burst === undefined) throw new Error("unknown connection");
    if (burst.left === 0) {
      burst.text = texts[next++ % texts.length] ?? "";
      burst.left = calls;
    }
    burst.left -= 1;
    return burst.text;
  };
}

function createCall({ headers }: Caller): Call {
  return requestText(
    "POST /api/v1/intents",
    { ...headers, "content-type": "application/json" },
    '{"priceUnits":25000000}',
  );
}

function getCall({ headers, intentId }: Caller): Call {
  return requestText(`GET /api/v1/intents/${intentId}`, headers);
}

function listCall({ headers }: Caller): Call {
  return requestText(`GET /api/v1/intents?limit=${PAGE}`, headers);
}

function runForDuration(call: (connection: number) => Call): (connection: number) => Call | undefined {
  const untilMs = performance.now() + RUN_MS;
  return (connection) => (performance.now() < untilMs ? call(connection) : undefined);
}

/** Warm-up by number of calls, because compilation depends on the count and not on the time. */
function runRepeatedly(call: (connection: number) => Call): (connection: number) => Call | undefined {
  let left = WARM_UP_CALLS;
  return (connection) => (left-- > 0 ? call(connection) : undefined);
}

async function measure(
  { databaseId }: HttpBenchContext,
  server: Server | undefined,
  work: () => Promise<number | undefined>,
): Promise<Figure> {
  const serverId = server?.child.pid;
  const used = () => ({ databaseUs: cpuUsOf(databaseId), serverUs: serverId === undefined ? 0 : cpuUsOf(serverId) });
  const before = used();
  const startedMs = performance.now();
  const count = (await work()) ?? Number.NaN;
  const elapsedMs = server === undefined ? RUN_MS : performance.now() - startedMs;
  const after = used();
  return {
    rate: count / (elapsedMs / 1_000),
    serverUs: (after.serverUs - before.serverUs) / count,
    databaseUs: (after.databaseUs - before.databaseUs) / count,
  };
}

/** Reads page 1 and page 10,000 of a long list in turn. */
async function compareDepth({ databaseUrl, db, world, callers }: HttpBenchContext): Promise<void> {
  const caller = callers.at(-1);
  if (caller === undefined) throw new Error("no account");
  await fillList(db, caller);
  const { signingSecret: secret } = await ensureDeployment(world);
  const { rows } = await sql<{ seq: bigint }>`
    select seq from intent where account_id = ${caller.account.id} order by seq desc offset ${PAGE * PAGES_DEEP} limit 1`.execute(
    db.root,
  );
  const [deep] = rows;
  if (deep === undefined) throw new Error("the list is too short");
  const cursor = encodeCursor(deep.seq, { secret, list: "intents", owner: caller.account.id });
  const server = await serve({ kind: "ours", databaseUrl });
  try {
    const read = async (path: string) => {
      const startedMs = performance.now();
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: caller.headers });
      if (response.status !== 200) throw new Error(await response.text());
      await response.arrayBuffer();
      return performance.now() - startedMs;
    };
    const firstPage = `/api/v1/intents?limit=${PAGE}`;
    const deepPage = `${firstPage}&cursor=${cursor}`;
    await read(firstPage);
    await read(deepPage);
    const [firstMs, deepMs]: [number[], number[]] = [[], []];
    for (let times = 0; times < PAGE_READS; times += 1) {
      firstMs.push(await read(firstPage));
      deepMs.push(await read(deepPage));
    }
    const ratio = median(deepMs) / median(firstMs);
    console.log(
      `list     page ${PAGES_DEEP} of ${LISTED} intents ${median(deepMs).toFixed(2)} ms, page 1 ${median(firstMs).toFixed(2)} ms: ${ratio.toFixed(2)}`,
    );
  } finally {
    await stopServer(server);
  }
}

async function fillList(db: Db, caller: Caller): Promise<void> {
  for (let from = 1; from <= LISTED; from += LIST_CONCURRENCY)
    await copyIntents(db, [caller.intentId], {
      from: from + INTENTS_AT_FIRST,
      to: from + INTENTS_AT_FIRST + LIST_CONCURRENCY - 1,
    });
  await sql`analyze intent`.execute(db.root);
}

async function serve(served: Served, profiles?: string): Promise<Server> {
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const execArgv = ["--no-warnings", ...profiling];
  const child = fork(new URL("http/server.ts", import.meta.url), { stdio: "inherit", execArgv });
  if (child.pid !== undefined) bindToCore(child.pid, SERVER_CORE);
  child.send(served);
  const [port] = (await once(child, "message")) as [number];
  return { child, port };
}

/** Disconnects instead of killing, so that a profiled server writes its profile. */
async function stopServer({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.disconnect();
  await once(child, "exit");
}

/** Prints one side's medians and the median ratio of ours to it. */
function printComparison(title: string, figures: Figure[], ours?: Figure[]): void {
  const medianOf = (read: (figure: Figure) => number) => median(figures.map(read)).toFixed(0);
  const ratios = ours?.map(({ rate }, turn) => rate / (figures[turn]?.rate ?? Number.NaN)) ?? [];
  const comparison = ours === undefined ? "" : `, ours are ${median(ratios).toFixed(2)} of it`;
  const cost = `${medianOf(({ serverUs }) => serverUs)} µs of the server, ${medianOf(({ databaseUs }) => databaseUs)} µs of the database`;
  console.log(`${title.padEnd(24)} ${medianOf(({ rate }) => rate)}/s, ${cost}${comparison}`);
}
