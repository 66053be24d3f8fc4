import { setTimeout as delay } from "node:timers/promises";
import { createDatabaseOn } from "../support/database.ts";
import { startServerPair, type ServerPair } from "../support/serverPair.ts";
import { MerchantClients } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { openChaosContext, waitUntilSettled, type ChaosContext } from "./runKills.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// The database switches to its standby under load: the old primary refuses writes and stays connected, then the address
// leads to the new one. The service must return by itself, and nothing may be lost or happen twice.

export type SwitchoverOptions = {
  seed: number;
  /** Of load before, during and after. */
  loadMs: number;
  /** Kills the primary instead, whose standby has every confirmed commit. */
  isKilled?: boolean;
};

export type SwitchoverReport = Findings & {
  acknowledged: number;
  acknowledgedAfter: number;
  payments: number;
  unsettled: number;
  /** Whether /readyz said so while the database refused writes. */
  wasReported: boolean;
  /** From the promotion to the next 200 of /readyz, and to the next acknowledged create. */
  readyMs: number;
  createMs: number;
  exitCode: number | null;
  output: string;
};

const RETURN_MS_MAX = 30_000;
const OUTPUT_CHARS_MAX = 4_000;

export async function runSwitchover(options: SwitchoverOptions): Promise<SwitchoverReport> {
  const pair = await startServerPair();
  const chaos = await openChaosContext(async () => {
    await createDatabaseOn(pair.primary, "service");
    return { url: pair.urlOf("service"), remove: () => pair.remove() };
  });
  try {
    return await switchUnderLoad(chaos, pair, options);
  } finally {
    await chaos.close();
  }
}

async function switchUnderLoad(
  chaos: ChaosContext,
  pair: ServerPair,
  { seed, loadMs, isKilled = false }: SwitchoverOptions,
): Promise<SwitchoverReport> {
  const { chain, db, installation } = chaos;
  const random = new SeededRandom(seed);
  const clients = new MerchantClients(installation.baseUrl, new SeededRandom(random.below(2 ** 31)));
  const { acknowledged, counts } = clients;
  const payers = new Payers({ chain, random: new SeededRandom(random.below(2 ** 31)), acknowledged });
  const service = await installation.start();
  const load = new AbortController();
  const workers = [...chaos.merchants.map((one) => clients.run(one, load.signal)), payers.run(load.signal)];
  const isReady = async () => (await fetch(`${installation.baseUrl}/readyz`)).status === 200;
  if (isKilled) await pair.makeSynchronous();
  await delay(loadMs);
  const wasReported = isKilled || (await refuseWrites(pair, { loadMs, isReady }));
  await (isKilled ? pair.failOver() : pair.promoteStandby());
  const [before, startedMs] = [acknowledged.length, performance.now()];
  const [readyMs, createMs] = await Promise.all([
    msUntil(startedMs, isReady),
    msUntil(startedMs, async () => acknowledged.length > before),
  ]);
  await delay(loadMs);
  load.abort();
  await Promise.all(workers);
  for (const merchant of chaos.merchants) await clients.create(merchant);
  await waitUntilSettled(chaos);
  for (const intent of acknowledged) await clients.read(intent);
  const exitCode = await service.stop();
  const findings = await verifyFinalState(db, { chain, acknowledged });
  findings.lost.push(...counts.notFound.map((intentId) => `intent ${intentId} was acknowledged and then not found`));
  return {
    ...findings,
    acknowledged: acknowledged.length,
    acknowledgedAfter: acknowledged.length - before,
    payments: payers.payments,
    unsettled: await countUnsettled(db),
    wasReported,
    readyMs,
    createMs,
    exitCode,
    output: service.output().slice(-OUTPUT_CHARS_MAX),
  };
}

type Refusal = { loadMs: number; isReady: () => Promise<boolean> };

/** Returns whether the service said that its database refuses writes. */
async function refuseWrites(pair: ServerPair, { loadMs, isReady }: Refusal): Promise<boolean> {
  await pair.makePrimaryReadOnly();
  await delay(loadMs);
  return !(await isReady());
}

/** Milliseconds until the condition holds; RETURN_MS_MAX when it does not. */
async function msUntil(startedMs: number, condition: () => Promise<boolean>): Promise<number> {
  while (performance.now() - startedMs < RETURN_MS_MAX) {
    if (await condition()) return Math.round(performance.now() - startedMs);
    await delay(50);
  }
  return RETURN_MS_MAX;
}

/** Whether the service returned by itself, and nothing was lost, repeated or left. */
export function isSoundSwitchover(report: SwitchoverReport): boolean {
  const { lost, duplicated, ledger, unsettled, exitCode, wasReported, readyMs, createMs } = report;
  const isBack = readyMs < RETURN_MS_MAX && createMs < RETURN_MS_MAX;
  return isBack && wasReported && [...lost, ...duplicated, ...ledger].length === 0 && unsettled === 0 && exitCode === 0;
}
