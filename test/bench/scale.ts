import { parseArgs } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Hex } from "viem";
import { HUB } from "../../src/dev/chains/contracts.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { addMerchant } from "../support/merchants.ts";
import { postgresVersion } from "../support/postgres.ts";
import { chainFields, openInstallation, type RunningService } from "../support/serviceInstallation.ts";
import { cpuUsOf } from "./cpuTime.ts";
import { heading, tabulate } from "./detect/statistics.ts";

// Measures what a payment costs in processor time with one, two and four processes on one database, and with two
// installations on two servers, and how often a session waits for a lock. Two cores show no throughput.

const PAYMENTS = 200;
const SMALL_PAYMENTS = 12;
const PAYMENTS_A_BLOCK = 10;
/** Below the limit of creates of an account. */
const CREATES_A_MERCHANT = 20;
const DOLLAR = 1_000_000n;
const SAMPLE_MS = 50;
const WAITS_SHOWN = 3;
const SETTLE_MS_MAX = 300_000;

type Setting = { name: string; groups: number; processes: number };

const SETTINGS: readonly Setting[] = [
  { name: "one process", groups: 1, processes: 1 },
  { name: "two processes on one database", groups: 1, processes: 2 },
  { name: "four processes on one database", groups: 1, processes: 4 },
  { name: "two installations on two servers", groups: 2, processes: 1 },
];

type Group = {
  chain: TestChain;
  db: Db;
  services: RunningService[];
  urls: string[];
  serverPid: number;
  keys: string[];
};
type LockSamples = {
  samples: number;
  waiting: number;
  /** How often each statement waited. */ waits: Map<string, number>;
};
type Measured = { seconds: number; ourMs: number; databaseMs: number } & LockSamples;

export async function benchScale(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { payments: { type: "string", default: String(PAYMENTS) }, small: { type: "boolean" } },
  });
  const payments = values.small === true ? SMALL_PAYMENTS : Number(values.payments);
  console.log(heading({ PostgreSQL: (await postgresVersion()).replace(/\D*/, "") }));
  const rows = [];
  const notes: string[] = [];
  for (const setting of SETTINGS) {
    const measured = await measure(setting, payments);
    const each = (ms: number) => (ms / payments).toFixed(1);
    const { seconds, ourMs, databaseMs, samples, waiting, waits } = measured;
    const share = `${((100 * waiting) / Math.max(samples, 1)).toFixed(1)} %`;
    const most = [...waits].toSorted(([, one], [, other]) => other - one).slice(0, WAITS_SHOWN);
    notes.push(...most.map(([statement, count]) => `${setting.name}: ${count} × ${statement}`));
    rows.push([setting.name, seconds.toFixed(1), each(ourMs), each(databaseMs), share]);
  }
  const columns = ["", "s", "service, ms a payment", "database, ms a payment", "moments with a wait for a lock"];
  console.log(`${payments} payments, each an intent, a deposit and a settlement`);
  console.log(tabulate([columns, ...rows]));
  for (const note of notes) console.log(`waited: ${note}`);
}

async function measure({ groups: count, processes }: Setting, payments: number): Promise<Measured> {
  await using closing = new AsyncDisposableStack();
  const share = payments / count;
  const groups: Group[] = [];
  for (let index = 0; index < count; index += 1) groups.push(await openGroup(closing, { index, processes, share }));
  // The first payment of a process compiles its code.
  for (const group of groups) await settlePayments(group, processes);
  const cpuUs = () => ({
    ours: sum(groups.flatMap(({ services }) => services.map(({ pid }) => cpuUsOf(pid)))),
    database: sum(groups.map(({ serverPid }) => cpuUsOf(serverPid))),
  });
  const stop = new AbortController();
  const locks = Promise.all(groups.map(({ db }) => sampleLocks(db, stop.signal)));
  const [startedMs, before] = [performance.now(), cpuUs()];
  await Promise.all(groups.map((group) => settlePayments(group, share)));
  const [seconds, after] = [(performance.now() - startedMs) / 1_000, cpuUs()];
  stop.abort();
  const sampled = await locks;
  return {
    seconds,
    ourMs: (after.ours - before.ours) / 1_000,
    databaseMs: (after.database - before.database) / 1_000,
    samples: sum(sampled.map(({ samples }) => samples)),
    waiting: sum(sampled.map(({ waiting }) => waiting)),
    waits: new Map(sampled.flatMap(({ waits }) => [...waits])),
  };
}

async function openGroup(
  closing: AsyncDisposableStack,
  { index, processes, share }: { index: number; processes: number; share: number },
): Promise<Group> {
  const [chain, server] = await Promise.all([
    startTestChain({ hub: HUB, chainId: 910_000 + index }),
    startOwnServer({ isDurable: true }),
  ]);
  closing.defer(() => chain.stop());
  closing.defer(() => server.remove());
  const databaseUrl = await createDatabaseOn(server, "service");
  const db = await openDatabase({ url: databaseUrl });
  closing.defer(() => db.close());
  const keys: string[] = [];
  for (let number = 0; number < Math.ceil((share + processes) / CREATES_A_MERCHANT) + 1; number += 1)
    keys.push((await addMerchant(db, { chainReference: String(chain.chainId), feeBps: 50 })).apiKey);
  const config = { chains: [chainFields(chain, { pollMs: 200, settleAfterMs: 0 })] };
  const installation = await openInstallation({ chain, databaseUrl, port: await chooseFreePort(), config });
  closing.defer(() => installation.remove());
  const [services, urls]: [RunningService[], string[]] = [[], []];
  for (let number = 0; number < processes; number += 1) {
    const port = await chooseFreePort();
    services.push(await installation.start({ variables: { TRIBUTARY_PORT: String(port) } }));
    urls.push(`http://127.0.0.1:${port}`);
  }
  return { chain, db, services, urls, serverPid: server.processId, keys };
}

/** Creates intents at all processes in turn, pays them block by block, and waits until every payout has landed. */
async function settlePayments({ chain, db, urls, keys, services }: Group, count: number): Promise<void> {
  const intents: { id: string; inbox: Hex }[] = [];
  for (let number = 0; number < count; number += 1)
    intents.push(await create(urls[number % urls.length] ?? "", keys[number % keys.length] ?? ""));
  for (let first = 0; first < count; first += PAYMENTS_A_BLOCK) {
    const block = intents.slice(first, first + PAYMENTS_A_BLOCK);
    await chain.payInOneBlock(
      block.map(({ inbox }) => ({ token: chain.usdc.address, to: inbox, amountUnits: DOLLAR })),
    );
  }
  const ids = intents.map(({ id }) => id);
  const startedMs = performance.now();
  while (performance.now() - startedMs < SETTLE_MS_MAX) {
    const unsettled = await db.root
      .selectFrom("intent")
      .select("id")
      .where("id", "in", ids)
      .where("settled_units", "<", DOLLAR)
      .execute();
    if (unsettled.length === 0) return;
    await delay(SAMPLE_MS);
    await chain.mine(1);
  }
  throw new Error(`not all payments settled: ${services.map((service) => service.output().slice(-1_000)).join("\n")}`);
}

async function create(url: string, apiKey: string): Promise<{ id: string; inbox: Hex }> {
  const response = await fetch(`${url}/api/v1/intents`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({ priceUnits: Number(DOLLAR), oneTime: true }),
  });
  if (response.status !== 201)
    throw new Error(`a create was answered with ${response.status}: ${await response.text()}`);
  const { intentId, inboxAddress } = (await response.json()) as { intentId: string; inboxAddress: Hex };
  return { id: intentId, inbox: inboxAddress };
}

async function sampleLocks(db: Db, signal: AbortSignal): Promise<LockSamples> {
  const found: LockSamples = { samples: 0, waiting: 0, waits: new Map() };
  while (!signal.aborted) {
    const { rows } = await sql<{ statement: string }>`
      select left(regexp_replace(query, '\\s+', ' ', 'g'), 70) as statement
      from pg_stat_activity where wait_event_type = 'Lock'`.execute(db.root);
    found.samples += 1;
    if (rows.length > 0) found.waiting += 1;
    for (const { statement } of rows) found.waits.set(statement, (found.waits.get(statement) ?? 0) + 1);
    await delay(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
  }
  return found;
}

function sum(figures: readonly number[]): number {
  return figures.reduce((all, figure) => all + figure, 0);
}
