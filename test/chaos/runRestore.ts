import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { openDatabase } from "../../src/db/database.ts";
import type { TestChain } from "../support/chain.ts";
import { renderCli } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { countRestoredFeeds, importKept } from "./importKept.ts";
import { MerchantClients } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { openChaosContext, waitUntilSettled, type ChaosContext } from "./runKills.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// A dump is taken under load. Merchants and payers go on, then the server's database is replaced by the dump: chains know
// payments and payouts that the database does not. The operator marks the restore and imports what merchants kept.

export type RestoreOptions = {
  seed: number;
  /** Of load before the dump, after it, and after the restore. */
  loadMs: number;
};

export type RestoreReport = Findings & {
  acknowledged: number;
  payments: number;
  /** Acknowledged intents that the dump lacks, and payouts after it. */
  forgotten: number;
  forgottenPayouts: number;
  imported: string;
  restoredFeeds: number;
  /** Transactions of the service that moved no token: a second payout of money that had left. */
  emptyTransactions: string[];
  unsettled: number;
  exitCode: number | null;
  output: string;
};

const OUTPUT_CHARS_MAX = 4_000;
const FORGOTTEN_MIN = 5;
const WAIT_MS_MAX = 60_000;
const DUMP_BYTES_MAX = 2 ** 28;
const run = promisify(execFile);

/** The folder of pg_dump and psql; undefined where Debian's postgresql is not installed. */
export function findDumpPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "pg_dump")));
}

export async function runRestore(options: RestoreOptions): Promise<RestoreReport> {
  const server = await startOwnServer({ isDurable: true });
  const chaos = await openChaosContext(async () => ({
    url: await createDatabaseOn(server, "service"),
    remove: () => server.remove(),
  }));
  const folder = mkdtempSync(join(tmpdir(), "tributary-dump-"));
  try {
    return await restoreUnderLoad(chaos, { ...options, server, file: join(folder, "dump.sql") });
  } finally {
    rmSync(folder, { recursive: true });
    await chaos.close();
  }
}

async function restoreUnderLoad(
  chaos: ChaosContext,
  { seed, loadMs, server, file }: RestoreOptions & { server: PostgresServer; file: string },
): Promise<RestoreReport> {
  const { chain, installation, databaseUrl } = chaos;
  const random = new SeededRandom(seed);
  const clients = new MerchantClients(installation.baseUrl, new SeededRandom(random.below(2 ** 31)));
  const { acknowledged, counts } = clients;
  const payers = new Payers({ chain, random: new SeededRandom(random.below(2 ** 31)), acknowledged });
  const lost = await installation.start();
  const load = new AbortController();
  const workers = [...chaos.merchants.map((one) => clients.run(one, load.signal)), payers.run(load.signal)];
  const countLanded = async () =>
    (await chaos.db.root.selectFrom("settlement").select("id").where("status", "=", "landed").execute()).length;
  await delay(loadMs);
  await until(async () => (await countLanded()) > 0);
  await dump(databaseUrl, file);
  const [landed, present] = [await countLanded(), acknowledged.length];
  await delay(loadMs);
  await until(async () => acknowledged.length >= present + FORGOTTEN_MIN && (await countLanded()) > landed);
  await lost.kill();
  const forgottenPayouts = (await countLanded()) - landed;
  const restoredAt = await chain.client.getBlockNumber();
  await restore(server, file);
  // The handle of the database that is gone.
  await chaos.db.close();
  const db = await openDatabase({ url: databaseUrl });
  const restored = { ...chaos, db };
  try {
    const marked = await renderCli(["restore", "mark", "--config", installation.file], installation.environment);
    if (marked.code !== 0) throw new Error(marked.err);
    const service = await installation.start();
    await delay(loadMs);
    load.abort();
    await Promise.all(workers);
    for (const merchant of chaos.merchants) await clients.create(merchant);
    const { forgotten, imported } = await importKept(restored, acknowledged);
    // Reads before the import found nothing, as they must.
    counts.notFound.length = 0;
    await waitUntilSettled(restored);
    for (const intent of acknowledged) await clients.read(intent);
    const exitCode = await service.stop();
    const findings = await verifyFinalState(db, { chain, acknowledged });
    findings.lost.push(...counts.notFound.map((intentId) => `intent ${intentId} was acknowledged and then not found`));
    return {
      ...findings,
      acknowledged: acknowledged.length,
      payments: payers.payments,
      forgotten,
      forgottenPayouts,
      imported,
      restoredFeeds: await countRestoredFeeds(db),
      emptyTransactions: await listEmptyTransactions(chain, restoredAt),
      unsettled: await countUnsettled(db),
      exitCode,
      output: service.output().slice(-OUTPUT_CHARS_MAX),
    };
  } finally {
    await db.close();
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const startedMs = performance.now();
  while (!(await isTrue()) && performance.now() - startedMs < WAIT_MS_MAX) await delay(50);
}

async function dump(url: string, file: string): Promise<void> {
  await run(join(programs(), "pg_dump"), ["--dbname", url, "--file", file], { maxBuffer: DUMP_BYTES_MAX });
}

/** Replaces the database by the dump, on the same server: nothing but the operator can tell the service. */
async function restore(server: PostgresServer, file: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  await client.query("drop database service with (force)");
  await client.query("create database service template template0");
  await client.end();
  const options = ["--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--single-transaction"];
  await run(join(programs(), "psql"), [...options, "--dbname", server.urlOf("service"), "--file", file]);
}

function programs(): string {
  const found = findDumpPrograms();
  if (found === undefined) throw new Error("install Debian's postgresql, which has pg_dump and psql");
  return found;
}

/** Transactions to the hub from the account that pays for them, without a transfer. */
async function listEmptyTransactions({ client, hub }: TestChain, firstBlock: bigint): Promise<string[]> {
  const head = await client.getBlockNumber();
  const empty: string[] = [];
  for (let number = firstBlock; number <= head; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true });
    for (const { hash, from, to, nonce, input } of transactions) {
      const isOurs = from.toLowerCase() === DEV_ACCOUNTS.operator.address.toLowerCase();
      if (!isOurs || to?.toLowerCase() !== hub.toLowerCase()) continue;
      if ((await client.getTransactionReceipt({ hash })).logs.length === 0)
        empty.push(`block ${number}, nonce ${nonce}: ${hash} ${input}`);
    }
  }
  return empty;
}
