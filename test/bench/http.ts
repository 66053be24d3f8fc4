import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { ensureDeployment } from "../../src/intent/deployment.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import { encodeCursor } from "../../src/kernel/cursor.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import { createKey } from "../../src/merchant/createKey.ts";
import { CREATE_INTENTS } from "../../src/merchant/scopes.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { openTestDatabase } from "../support/database.ts";
import { insertIntent, randomAddress } from "../support/intents.ts";
import { startPostgres } from "../support/postgres.ts";
import { stationWorld, type StationWorld } from "../support/stationWorld.ts";
import { load, type Call } from "./http/load.ts";
import type { Served } from "./http/server.ts";
import { createStatement, freshValues, getStatement, pgbenchScript, uniquePlaces } from "./http/statements.ts";

// What the checks, the limits and the record cost: the real server beside a bare one that runs the same statement, and beside
// pgbench, which runs nothing but the statement. All on one PostgreSQL that flushes to disk, one after the other, several times.

const RUNS = 5;
const RUN_MS = 2_000;
const CONNECTIONS = 16;
/** Enough of them that none is refused in the minute that a run of them takes, where 30 creates and 120 reads are allowed. */
const ACCOUNTS = 3_000;
const CREATES_IN_A_BURST = 25;
const GETS_IN_A_BURST = 100;
const LISTED = 110_000;
/** What one statement inserts within the time that it has. */
const LISTED_AT_ONCE = 5_000;
const PAGE = 10;
const PAGES_DEEP = 10_000;
const PAGE_READS = 25;
const EMBEDDED_CREATES = 600;

type Caller = { account: AccountRow; headers: Record<string, string>; intentId: string };
type Site = { databaseUrl: string; db: Db; world: StationWorld; callers: Caller[] };

function newFigures(): Record<"create" | "bareCreate" | "pgCreate" | "get" | "bareGet" | "pgGet", number[]> {
  return { create: [], bareCreate: [], pgCreate: [], get: [], bareGet: [], pgGet: [] };
}

export async function benchHttp(): Promise<void> {
  console.log(
    `medians of ${RUNS} runs of ${RUN_MS} ms, ${CONNECTIONS} connections, ${cpus().length} cores, Node ${process.version}`,
  );
  const server = await startPostgres(undefined, { isDurable: true });
  const databaseUrl = server.urlOf("postgres");
  const db = await openDatabase({ url: databaseUrl });
  try {
    await migrate(db, { appliedAt: systemClock.now() });
    const world = stationWorld(db);
    const site = { databaseUrl, db, world, callers: await openCallers(world) };
    await compareCalls(site);
    await compareDepth(site);
  } finally {
    await db.close();
    await server.remove();
  }
  await compareEmbedded();
}

async function openCallers(world: StationWorld): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
    const account = await createAccount(world, { name: `Bench ${index}`, payout });
    const { apiKey } = await createKey(world, { accountId: account.id, scopes: [CREATE_INTENTS] });
    const { id } = await insertIntent(world.db, { account_id: account.id });
    callers.push({
      account,
      intentId: id,
      headers: { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" },
    });
  }
  return callers;
}

async function compareCalls({ databaseUrl, db, world, callers }: Site): Promise<void> {
  const [first] = callers;
  if (first === undefined) throw new Error("there are accounts");
  await ensureDeployment(db, world.entropy);
  const create = await createStatement({ ...world, db }, first.account);
  const places = uniquePlaces(create);
  const get = await getStatement({ accountId: first.account.id, intentId: first.intentId });
  const ours = await serve({ kind: "ours", databaseUrl });
  const bare = await serve({ kind: "bare", databaseUrl, create, places, get });
  const creating = ({ headers }: Caller): Call => ({
    method: "POST",
    path: "/api/v1/intents",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"priceUnits":25000000}',
  });
  const getting = ({ headers, intentId }: Caller): Call => ({
    method: "GET",
    path: `/api/v1/intents/${intentId}`,
    headers,
  });
  // The bare server reads the one account's intents, whose statement it was given.
  const gettingFirst = (): Call => getting(first);
  try {
    const run = (port: number, call: (index: number) => Call) =>
      load({ port, connections: CONNECTIONS, durationMs: RUN_MS, call });
    // One account after the other uses up its minute, as a merchant does whose sale has just begun.
    let [creates, gets] = [0, 0];
    const burstOf = (calls: number, a: number) => callers[Math.floor(calls / a) % callers.length] ?? first;
    const createsInBursts = () => creating(burstOf(creates++, CREATES_IN_A_BURST));
    const getsInBursts = () => getting(burstOf(gets++, GETS_IN_A_BURST));
    await run(ours.port, getsInBursts);
    await run(bare.port, gettingFirst);
    const figures = newFigures();
    for (let turn = 0; turn < RUNS; turn += 1) {
      figures.pgCreate.push(await pgbench(databaseUrl, pgbenchScript(create, places)));
      figures.bareCreate.push(await run(bare.port, () => creating(first)));
      figures.create.push(await run(ours.port, createsInBursts));
      figures.pgGet.push(await pgbench(databaseUrl, pgbenchScript(get, [])));
      figures.bareGet.push(await run(bare.port, gettingFirst));
      figures.get.push(await run(ours.port, getsInBursts));
    }
    tell("create", figures.create, [
      ["bare node:http", figures.bareCreate],
      ["pgbench", figures.pgCreate],
    ]);
    tell("get", figures.get, [
      ["bare node:http", figures.bareGet],
      ["pgbench", figures.pgGet],
    ]);
  } finally {
    ours.child.kill();
    bare.child.kill();
  }
}

/** The first page and the ten thousandth of a long list, in turn. */
async function compareDepth({ databaseUrl, db, world, callers }: Site): Promise<void> {
  const caller = callers.at(-1);
  if (caller === undefined) throw new Error("there are accounts");
  await fillList(db, caller);
  const { signingSecret: secret } = await ensureDeployment(db, world.entropy);
  const { rows } = await sql<{ seq: bigint }>`
    select seq from intent where account_id = ${caller.account.id} order by seq desc offset ${PAGE * PAGES_DEEP} limit 1`.execute(
    db.read,
  );
  const [deep] = rows;
  if (deep === undefined) throw new Error("the list is too short");
  const cursor = encodeCursor(deep.seq, { secret, list: "intents", owner: caller.account.id });
  const { child, port } = await serve({ kind: "ours", databaseUrl });
  try {
    const read = async (path: string) => {
      const startedMs = performance.now();
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: caller.headers });
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
    child.kill();
  }
}

async function fillList(db: Db, { account, intentId }: Caller): Promise<void> {
  const { rows } = await sql<{ names: string }>`
    select string_agg(quote_ident(column_name), ', ' order by ordinal_position) as names from information_schema.columns
    where table_name = 'intent' and column_name not in ('seq', 'id', 'inbox_address', 'inbox_salt', 'widget_token_hash', 'occupies')`.execute(
    db.read,
  );
  const names = sql.raw(rows[0]?.names ?? "");
  for (let from = 1; from <= LISTED; from += LISTED_AT_ONCE)
    await sql`
    insert into intent (id, inbox_address, inbox_salt, widget_token_hash, occupies, ${names})
    select 'pi_' || substr(md5('i' || n), 1, 26), '0x' || substr(md5('a' || n) || md5('b' || n), 1, 40),
      '0x' || md5('s' || n) || md5('t' || n), decode(md5('w' || n) || md5('x' || n), 'hex'), false, ${names}
    from intent cross join generate_series(${from}::int, ${from + LISTED_AT_ONCE - 1}::int) as n
    where id = ${intentId} and account_id = ${account.id}`.execute(db.read);
  await sql`analyze intent`.execute(db.read);
}

/** The embedded database has no server to compare with: the use case beside a loop over its statement. */
async function compareEmbedded(): Promise<void> {
  const db = await openTestDatabase("pglite");
  try {
    const world = stationWorld(db);
    const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
    const account = await createAccount(world, { name: "Bench", payout });
    await ensureDeployment(db, world.entropy);
    const statement = await createStatement(world, account);
    const places = uniquePlaces(statement);
    const input = { priceUnits: 25_000_000 };
    const timed = async (work: () => Promise<unknown>) => {
      const startedMs = performance.now();
      for (let times = 0; times < EMBEDDED_CREATES; times += 1) await work();
      return EMBEDDED_CREATES / ((performance.now() - startedMs) / 1_000);
    };
    const bareLoop = () => sqlOf(statement.text, freshValues(statement.values, places)).execute(db.read);
    const [bare, ours]: [number[], number[]] = [[], []];
    await timed(bareLoop);
    for (let turn = 0; turn < RUNS; turn += 1) {
      bare.push(await timed(bareLoop));
      ours.push(await timed(() => createIntent(db.read, world, { account, input })));
    }
    tell("create, embedded", ours, [["its statement in a loop", bare]]);
  } finally {
    await db.close();
  }
}

/** A statement with numbered places as one that kysely sends. */
function sqlOf(text: string, values: readonly (string | null)[]) {
  const parts = text.split(/\$(\d+)/);
  return sql.join(
    parts.map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1] ?? null}`)),
    sql.raw(""),
  );
}

async function serve(served: Served): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(new URL("http/server.ts", import.meta.url), { stdio: "inherit", execArgv: ["--no-warnings"] });
  child.send(served);
  const [port] = (await once(child, "message")) as [number];
  return { child, port };
}

/** Transactions a second; undefined where the machine has no pgbench. */
async function pgbench(databaseUrl: string, script: string): Promise<number> {
  const program = findPgbench();
  if (program === undefined) return Number.NaN;
  const folder = await mkdtemp(join(tmpdir(), "tributary-pgbench-"));
  try {
    const file = join(folder, "script.sql");
    await chmod(folder, 0o755);
    await writeFile(file, script);
    const seconds = String(RUN_MS / 1_000);
    const words = ["-n", "-M", "prepared", "-c", String(CONNECTIONS), "-T", seconds, "-f", file, databaseUrl];
    const { stdout } = await promisify(execFile)(program, words);
    const [, rate = "NaN"] = /tps = ([\d.]+)/.exec(stdout) ?? [];
    return Number(rate);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function findPgbench(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  const places = [
    ...versions.map((version) => join(root, version, "bin", "pgbench")),
    "/usr/bin/pgbench",
    "/usr/local/bin/pgbench",
  ];
  return places.find((place) => existsSync(place));
}

function tell(what: string, ours: number[], others: [name: string, figures: number[]][]): void {
  const beside = others.map(([name, figures]) => {
    const figure = median(figures);
    if (Number.isNaN(figure)) return `${name} is not on this machine`;
    return `${(median(ours) / figure).toFixed(2)} of ${name} (${figure.toFixed(0)}/s)`;
  });
  console.log(`${what.padEnd(8)} ${median(ours).toFixed(0)}/s: ${beside.join(", ")}`);
}

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[figures.length >> 1] ?? Number.NaN;
}
