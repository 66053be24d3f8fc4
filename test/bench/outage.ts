import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import pg from "pg";
import { Pool } from "undici";
import type { Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { createDevClient } from "../../src/dev/chains/devClient.ts";
import { deployHub, HUB } from "../../src/dev/chains/contracts.ts";
import { findPort } from "../../src/dev/findPort.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { addMerchant } from "../support/merchants.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { openInstallation, type ServiceInstallation } from "../support/serviceInstallation.ts";
import { TOKEN } from "./backfillNode.ts";
import { startBenchChain, unwatchedAddress, toHex, TRANSFERS_A_BLOCK, type BenchChain } from "./detect/chain.ts";
import { heading, median, percentile, tabulate } from "./detect/statistics.ts";
import { sized } from "./sized.ts";

/** As deep as a single provider is trusted to have all logs, at the common block time. */
const REREAD_DEPTH = 16;

// Compares answer latencies of a service that catches up on three days with those of an idle one. Both have just
// started on the same rows and get the same requests at the same rate for the same time.

const RUNS = sized(5, 1);
/** The template database: its state before the outage. */
const TEMPLATE = "before";
const CHAIN_ID = 31_337;
/** Fewer blocks of 120 seconds, because each block slows anvil down. */
const OUTAGE_BLOCKS = sized(2_160, 180);
const BLOCK_SECONDS = 120;
const BUSY_BLOCKS = sized(2_000, 100);
const DEPOSITS = sized(60, 3);
/** Enough accounts to stay below each one's read limit. */
const MERCHANTS = 150;
const PAUSE_MS = 10;
const CONNECTIONS = 8;
const CATCH_UP_MS_MAX = 300_000;
const NS_PER_MS = 1_000_000;

const USAGE = `Usage: npm run bench -- outage [--runs=${RUNS}] [--profiles=FOLDER]`;

type OutageContext = {
  chain: BenchChain;
  server: PostgresServer;
  installation: ServiceInstallation;
  intents: Intent[];
};
type Intent = { apiKey: string; intentId: string; inbox: string };
type LatencyReport = { p50: number; p99: number; count: number; tookMs: number; stalledMs: number };

export async function benchOutage(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      runs: { type: "string", default: String(RUNS) },
      profiles: { type: "string" },
      small: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  console.log(heading({ anvil: "1.7.1" }));
  const [chain, server] = await Promise.all([
    startBenchChain({ slotsInAnEpoch: 1 }),
    startPostgres(undefined, { isDurable: true }),
  ]);
  try {
    const outage = await openOutageContext(chain, server, values.profiles);
    await mineOutage(outage);
    await compare(outage, Number(values.runs));
    await outage.installation.remove();
  } finally {
    await Promise.all([chain.stop(), server.remove()]);
  }
}

async function compare(outage: OutageContext, runs: number): Promise<void> {
  const rows: { busy: LatencyReport; idle: LatencyReport }[] = [];
  for (let run = 0; run < runs; run += 1) {
    const db = await openCopy(outage, run);
    const busy = await serve(outage, () => waitUntilCaughtUp(outage, db));
    const idle = await serve(outage, () => delay(busy.tookMs));
    rows.push({ busy, idle });
    await db.close();
  }
  const medianOf = (side: "busy" | "idle", read: (answers: LatencyReport) => number) =>
    median(rows.map((row) => read(row[side])));
  const line = (name: string, read: (answers: LatencyReport) => number) => [
    name,
    medianOf("busy", read).toFixed(1),
    medianOf("idle", read).toFixed(1),
    (medianOf("busy", read) / medianOf("idle", read)).toFixed(2),
  ];
  const seconds = medianOf("busy", ({ tookMs }) => tookMs) / 1_000;
  console.log(
    `\n72 hours missed, ${BUSY_BLOCKS * TRANSFERS_A_BLOCK} transfers in ${OUTAGE_BLOCKS} blocks, ${DEPOSITS} of them deposits: all found, counted and read again in ${seconds.toFixed(1)} s; medians of ${runs}`,
  );
  console.log(
    tabulate([
      ["", "catching up", "idle", "ratio"],
      line("answer p50 ms", ({ p50 }) => p50),
      line("answer p99 ms", ({ p99 }) => p99),
      line("longest stand-still ms", ({ stalledMs }) => stalledMs),
      [
        "answers",
        medianOf("busy", ({ count }) => count).toFixed(0),
        medianOf("idle", ({ count }) => count).toFixed(0),
        "",
      ],
    ]),
  );
}

/** Copies the template database for one run. */
async function openCopy({ server, installation }: OutageContext, run: number): Promise<Db> {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  await client.query(`create database run_${run} template ${TEMPLATE}`);
  await client.query("checkpoint");
  await client.end();
  const url = server.urlOf(`run_${run}`);
  Object.assign(installation.environment, { TRIBUTARY_DATABASE_URL: url });
  return openDatabase({ url });
}

/** Starts the service, sends requests until `ended` resolves, and stops it. */
async function serve({ installation, intents }: OutageContext, ended: () => Promise<unknown>): Promise<LatencyReport> {
  const service = await installation.start();
  process.kill(service.pid, "SIGUSR2");
  const startedAt = performance.now();
  const ending = new AbortController();
  const requests = requestContinuously(installation.baseUrl, intents, ending.signal);
  await Promise.race([ended().finally(() => ending.abort()), requests]);
  const tookMs = performance.now() - startedAt;
  const answerMs = await requests;
  const exitCode = await service.stop();
  if (exitCode !== 0) throw new Error(`the service ended with ${exitCode}: ${service.output()}`);
  const { maxNs } = JSON.parse(await readFile(probeFile(installation), "utf8")) as { maxNs: number };
  const [p50, p99] = [percentile(answerMs, 0.5), percentile(answerMs, 0.99)];
  return { p50, p99, count: answerMs.length, tookMs, stalledMs: maxNs / NS_PER_MS };
}

/** Sends requests at a fixed rate without waiting for answers; each latency counts from the due time. */
async function requestContinuously(
  baseUrl: string,
  intents: readonly Intent[],
  signal: AbortSignal,
): Promise<number[]> {
  const pool = new Pool(baseUrl, { connections: CONNECTIONS });
  const latencies: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; !signal.aborted; index += 1) {
    const dueAt = startedAt + index * PAUSE_MS;
    const earlyMs = dueAt - performance.now();
    if (earlyMs > 0) await delay(earlyMs);
    const intent = intents[index % intents.length];
    if (intent) latencies.push(requestIntent(pool, intent).then(() => performance.now() - dueAt));
  }
  const settledLatencies = await Promise.all(latencies);
  await pool.destroy();
  return settledLatencies;
}

async function requestIntent(pool: Pool, { apiKey, intentId }: Intent): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, "service-version": "2026-11-01" };
  const { statusCode, body } = await pool.request({ method: "GET", path: `/api/v1/intents/${intentId}`, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`the answer was ${statusCode}: ${text}`);
}

async function waitUntilCaughtUp({ chain }: OutageContext, db: Db): Promise<void> {
  const head = Number(await chain.requestRpc("eth_blockNumber", []));
  for (let waitedMs = 0; waitedMs < CATCH_UP_MS_MAX; waitedMs += 50) {
    const { rows } = await sql<{ isDone: boolean }>`
      select number >= ${head} and reread_number >= least(finalized_number, ${head - REREAD_DEPTH})
        and finalized_number >= ${head - 10}
        and (select count(*) from deposit where status = 'counted') = ${DEPOSITS} as "isDone"
      from chain_cursor`.execute(db.root);
    if (rows[0]?.isDone === true) return;
    await delay(50);
  }
  throw new Error("the service did not catch up");
}

/** Mines the busy blocks first, with deposits at regular intervals, then the empty ones. */
async function mineOutage({ chain, intents }: OutageContext): Promise<void> {
  const every = Math.floor(BUSY_BLOCKS / DEPOSITS);
  await chain.mineBusy(BUSY_BLOCKS, (block, index) => {
    const isDeposit = index === 25 && block % every === 0 && block / every < DEPOSITS;
    const inbox = isDeposit ? intents[block / every]?.inbox : undefined;
    return inbox ?? unwatchedAddress(block, index);
  });
  await chain.requestRpc("anvil_mine", [toHex(OUTAGE_BLOCKS - BUSY_BLOCKS), toHex(BLOCK_SECONDS)]);
}

/** Creates merchants with one intent each through a first run of the service. */
async function openOutageContext(
  chain: BenchChain,
  server: PostgresServer,
  profiles: string | undefined,
): Promise<OutageContext> {
  const databaseUrl = server.urlOf(TEMPLATE);
  const db = await openTemplate(server);
  await deployFixtures(chain);
  const apiKeys: string[] = [];
  for (let index = 0; index < MERCHANTS; index += 1)
    apiKeys.push((await addMerchant(db, { chainReference: String(CHAIN_ID) })).apiKey);
  await db.close();
  const port = await findPort("127.0.0.1", 0);
  const variables = { OUTAGE_PROBE_FILE: "", NODE_OPTIONS: nodeOptions(profiles) };
  const installation = await openInstallation({
    chain: { chainId: CHAIN_ID, rpcUrl: chain.rpcUrl, usdc: { address: TOKEN } },
    databaseUrl,
    port,
    variables,
  });
  variables.OUTAGE_PROBE_FILE = probeFile(installation);
  Object.assign(installation.environment, variables);
  await disableSettlement(installation.file);
  const service = await installation.start();
  const intents: Intent[] = [];
  for (const apiKey of apiKeys) intents.push(await createIntent(installation.baseUrl, apiKey));
  await service.stop();
  return { chain, server, installation, intents };
}

async function openTemplate(server: PostgresServer): Promise<Db> {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const db = await openDatabase({ url: server.urlOf(TEMPLATE) });
  await migrate(db, { appliedAt: new Date("2026-01-01T00:00:00Z") });
  return db;
}

function nodeOptions(profiles: string | undefined): string {
  const probe = `--import ${fileURLToPath(new URL("outageProbe.ts", import.meta.url))}`;
  return profiles === undefined ? probe : `${probe} --cpu-prof --cpu-prof-dir=${profiles}`;
}

function probeFile(site: ServiceInstallation): string {
  return join(site.file, "..", "probe.json");
}

async function deployFixtures(chain: BenchChain): Promise<void> {
  await chain.requestRpc("evm_setAutomine", [true]);
  const client = createDevClient(chain.rpcUrl);
  for (const { address } of [DEV_ACCOUNTS.issuer, DEV_ACCOUNTS.operator])
    await client.setBalance({ address, value: 10n ** 21n });
  await deployHub(client, DEV_ACCOUNTS.issuer, HUB);
  await chain.requestRpc("evm_setAutomine", [false]);
}

/** Delays settlement, because the token has no balances to sweep. */
async function disableSettlement(file: string): Promise<void> {
  const config = JSON.parse(await readFile(file, "utf8")) as { chains: { settleAfterMs: number }[] };
  for (const chain of config.chains) chain.settleAfterMs = 86_400_000;
  await writeFile(file, JSON.stringify(config));
}

async function createIntent(baseUrl: string, apiKey: string): Promise<Intent> {
  const response = await fetch(`${baseUrl}/api/v1/intents`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({ merchantReference: "order" }),
  });
  const answer = (await response.json()) as { intentId: string; inboxAddress: Hex };
  if (response.status !== 201) throw new Error(`the answer was ${response.status}: ${JSON.stringify(answer)}`);
  return { apiKey, intentId: answer.intentId, inbox: answer.inboxAddress.toLowerCase() };
}
