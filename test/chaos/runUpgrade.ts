import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { migrations } from "../../src/db/migrations/list.ts";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { readBaseline, readMoney } from "../migrations/readBaseline.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { renderCli } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { addMerchant } from "../support/merchants.ts";
import { chainFields, openInstallation, type ServiceInstallation } from "../support/serviceInstallation.ts";
import { MerchantClients, type Merchant } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { waitUntilSettled } from "./runKills.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// A database of the baseline, with money in it, is upgraded while merchants create intents and payers pay: the new
// version starts beside the old one, migrates, takes the traffic over, and the old one is stopped. No request may fail.

export type UpgradeOptions = {
  seed: number;
  /** Of load before, between and after. */
  loadMs: number;
  /**
   * The folder of the version that runs first, on the baseline. Without one, two processes of this version start on the
   * baseline at the same time, and the next version is this one with one more migration.
   */
  from?: string;
};

export type UpgradeReport = Findings & {
  /** What `upgrade --check` said before. */
  check: { ok: boolean; migrations: string[]; tables: { name: string }[] };
  requests: number;
  /** Requests without an answer, or with a refusal or an error of the server. */
  failed: number;
  refused: readonly string[];
  acknowledged: number;
  payments: number;
  unsettled: number;
  /** Whether every amount and address of the baseline is as it was. */
  isMoneyKept: boolean;
  exitCodes: (number | null)[];
  output: string;
};

type Installed = {
  chain: TestChain;
  db: Db;
  installation: ServiceInstallation;
  merchants: readonly Merchant[];
  baseline: unknown;
};

const MERCHANTS = 4;
const OUTPUT_CHARS_MAX = 4_000;
const BASELINE_SEED = 18;
const BASELINE_TOKENS = ["0", "1", "2", "3"].map((digit) => `0x${`c09${digit}`.repeat(10)}`);
/** Takes the strongest lock on the tables of every payment. */
const NEXT_MIGRATION = {
  name: "9999_next",
  async up(db: Parameters<(typeof migrations)[number]["up"]>[0]) {
    for (const table of ["intent", "deposit", "settlement", "event", "movement"])
      await sql`alter table ${sql.table(table)} add column next_version text`.execute(db);
  },
};

export async function runUpgrade(options: UpgradeOptions): Promise<UpgradeReport> {
  await using closing = new AsyncDisposableStack();
  return await upgradeUnderLoad(await install(closing), options);
}

async function install(closing: AsyncDisposableStack): Promise<Installed> {
  const [chain, server] = await Promise.all([startTestChain({ hub: HUB }), startOwnServer({ isDurable: true })]);
  closing.defer(() => chain.stop());
  closing.defer(() => server.remove());
  const databaseUrl = await createDatabaseOn(server, "service", "empty");
  await execute(databaseUrl, await readBaseline(BASELINE_SEED));
  // The simulation, whose rows these are, has no keys and therefore no version of them.
  await execute(databaseUrl, "insert into public.merchant_version (version) values (1) on conflict do nothing");
  const db = await openDatabase({ url: databaseUrl });
  closing.defer(() => db.close());
  const merchants: Merchant[] = [];
  for (let index = 0; index < MERCHANTS; index += 1) {
    const wallet = `0x${(0x5000 + index).toString(16).padStart(40, "2")}`;
    const added = await addMerchant(db, { feeBps: 50, chainReference: String(chain.chainId), wallet });
    merchants.push({ name: `merchant ${index + 1}`, ...added });
  }
  const installation = await openInstallation({
    chain,
    databaseUrl,
    port: await chooseFreePort(),
    config: { leaveMs: 500, chains: [chainFields(chain, { pollMs: 100, settleAfterMs: 0 }), baselineChain()] },
  });
  closing.defer(() => installation.remove());
  return { chain, db, installation, merchants, baseline: await readMoney(db) };
}

/** The chain of the money in the baseline. No provider answers, so nothing of it may change. */
function baselineChain(): object {
  const chain = { chainId: 31_337, rpcUrl: "http://127.0.0.1:1", usdc: { address: "" } };
  const tokens = BASELINE_TOKENS.map((address, index) => ({
    symbol: `OLD${index}`,
    address,
    decimals: 6,
    isOrigin: false,
    isRail: false,
  }));
  return chainFields(chain, { name: "Baseline", slug: "baseline", tokens });
}

async function upgradeUnderLoad(installed: Installed, { seed, loadMs, from }: UpgradeOptions): Promise<UpgradeReport> {
  const { chain, db, installation, merchants } = installed;
  const checked = await renderCli(
    ["upgrade", "--check", "--config", installation.file, "--json"],
    installation.environment,
  );
  if (checked.err !== "") throw new Error(checked.err);
  const check = JSON.parse(checked.out) as UpgradeReport["check"];
  const [old, spare] =
    from === undefined
      ? await Promise.all([start(installation), start(installation)])
      : [await start(installation, from), undefined];
  const random = new SeededRandom(seed);
  const clients = new MerchantClients(old.url, new SeededRandom(random.below(2 ** 31)));
  const { acknowledged, counts } = clients;
  const payers = new Payers({ chain, random: new SeededRandom(random.below(2 ** 31)), acknowledged });
  const load = new AbortController();
  const workers = [...merchants.map((one) => clients.run(one, load.signal)), payers.run(load.signal)];
  await delay(loadMs);
  if (from === undefined) await migrate(db, { appliedAt: new Date(), migrations: [...migrations, NEXT_MIGRATION] });
  const successor = spare ?? (await start(installation));
  // Both versions work on the new schema.
  await delay(loadMs);
  clients.moveTo(successor.url);
  const exitCodes = [await old.stop()];
  await delay(loadMs);
  load.abort();
  await Promise.all(workers);
  await waitUntilSettled({ chain, db });
  for (const intent of acknowledged) await clients.read(intent);
  exitCodes.push(await successor.stop());
  const findings = await verifyFinalState(db, { chain, acknowledged });
  findings.lost.push(...counts.notFound.map((intentId) => `intent ${intentId} was acknowledged and then not found`));
  return {
    ...findings,
    check,
    requests: counts.sent,
    failed: counts.unanswered,
    refused: counts.refused,
    acknowledged: acknowledged.length,
    payments: payers.payments,
    unsettled: await countUnsettled(db, chain),
    isMoneyKept: isBaselineKept(installed.baseline, await readMoney(db)),
    exitCodes,
    output: [old, successor].map((service) => service.output().slice(-OUTPUT_CHARS_MAX)).join("\n"),
  };
}

async function start(installation: ServiceInstallation, version?: string) {
  const port = await chooseFreePort();
  const service = await installation.start({
    variables: { TRIBUTARY_PORT: String(port) },
    ...(version === undefined ? {} : { version }),
  });
  return { ...service, url: `http://127.0.0.1:${port}` };
}

/**
 * Whether each row of the baseline is among the rows now. Sums per account are left out, because the load adds to them.
 */
function isBaselineKept(before: unknown, after: unknown): boolean {
  const rowsOf = (answers: unknown) =>
    (answers as object[][]).map((rows) =>
      rows.filter((row) => !("entries" in row)).map((row) => JSON.stringify(row, toText)),
    );
  const present = rowsOf(after).map((rows) => new Set(rows));
  return rowsOf(before).every((rows, index) => rows.every((row) => present[index]?.has(row) === true));
}

function toText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Whether no request failed, and nothing was lost, repeated or left. */
export function isSoundUpgrade(report: UpgradeReport): boolean {
  const { lost, duplicated, ledger, refused, failed, unsettled, exitCodes, isMoneyKept } = report;
  const findings = [lost, duplicated, ledger, refused].flat();
  const hasEnded = exitCodes.every((code) => code === 0);
  return findings.length === 0 && failed === 0 && unsettled === 0 && hasEnded && isMoneyKept;
}
