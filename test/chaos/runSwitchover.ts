import { setTimeout as delay } from "node:timers/promises";
import { createDatabaseOn } from "../support/database.ts";
import { startPatroniPair } from "../support/patroniPair.ts";
import { startServerPair, type ServerPair } from "../support/serverPair.ts";
import { countRestoredFeeds, importKept } from "./importKept.ts";
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
  /** Kills the primary, whose standby lacks the commits of the last `loadMs`. Merchants then import what they kept. */
  isLossy?: boolean;
  /** Patroni, etcd and HAProxy switch by themselves; with `isKilled`. */
  isPatroni?: boolean;
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
  /** Acknowledged intents that the new primary lacked, and what an import of them all said. */
  forgotten: number;
  imported: string;
  /** The accounts whose feed says that it was restored. */
  restoredFeeds: number;
  exitCode: number | null;
  output: string;
};

const RETURN_MS_MAX = 30_000;
/** The creates that the standby lacks, at least. */
const FORGOTTEN_MIN = 5;
const OUTPUT_CHARS_MAX = 4_000;

/** What a drill needs of the servers. */
type Servers = Pick<ServerPair, "urlOf" | "makeSynchronous" | "failOver" | "remove"> & {
  createDatabase(name: string): Promise<void>;
  /** Absent where only a killed primary is replaced. */
  managed?: ServerPair;
};

async function startServers({ isPatroni = false }: SwitchoverOptions): Promise<Servers> {
  if (isPatroni) return startPatroniPair();
  const pair = await startServerPair();
  const createDatabase = async (name: string) => void (await createDatabaseOn(pair.primary, name));
  return { ...pair, createDatabase, managed: pair };
}

export async function runSwitchover(options: SwitchoverOptions): Promise<SwitchoverReport> {
  const servers = await startServers(options);
  const chaos = await openChaosContext(async () => {
    await servers.createDatabase("service");
    return { url: servers.urlOf("service"), remove: () => servers.remove() };
  });
  try {
    return await switchUnderLoad(chaos, servers, options);
  } finally {
    await chaos.close();
  }
}

async function switchUnderLoad(
  chaos: ChaosContext,
  servers: Servers,
  { seed, loadMs, isKilled = false, isLossy = false }: SwitchoverOptions,
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
  if (isKilled) await servers.makeSynchronous();
  await delay(loadMs);
  if (isLossy) {
    await waitUntilLanded(chaos);
    await servers.managed?.stopReplication();
    const present = acknowledged.length;
    await msUntil(performance.now(), async () => acknowledged.length >= present + FORGOTTEN_MIN);
    await delay(loadMs);
  }
  const wasReported = isKilled || isLossy || (await refuseWrites(servers.managed, { loadMs, isReady }));
  await (isKilled || isLossy ? servers.failOver() : servers.managed?.promoteStandby());
  const [before, startedMs] = [acknowledged.length, performance.now()];
  const [readyMs, createMs] = await Promise.all([
    msUntil(startedMs, isReady),
    msUntil(startedMs, async () => acknowledged.length > before),
  ]);
  await delay(loadMs);
  load.abort();
  await Promise.all(workers);
  for (const merchant of chaos.merchants) await clients.create(merchant);
  const { forgotten, imported } = isLossy ? await importKept(chaos, acknowledged) : { forgotten: 0, imported: "" };
  // Reads before the import found nothing, as they must.
  if (isLossy) counts.notFound.length = 0;
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
    forgotten,
    imported,
    restoredFeeds: await countRestoredFeeds(db),
    exitCode,
    output: service.output().slice(-OUTPUT_CHARS_MAX),
  };
}

/** Waits for a payout: a failover before the first one would say nothing. */
async function waitUntilLanded({ db }: ChaosContext): Promise<void> {
  const landed = () => db.root.selectFrom("settlement").select("id").where("status", "=", "landed").executeTakeFirst();
  const startedMs = performance.now();
  while ((await landed()) === undefined && performance.now() - startedMs < RETURN_MS_MAX) await delay(50);
}

type Refusal = { loadMs: number; isReady: () => Promise<boolean> };

/** Returns whether the service said that its database refuses writes. */
async function refuseWrites(pair: ServerPair | undefined, { loadMs, isReady }: Refusal): Promise<boolean> {
  await pair?.makePrimaryReadOnly();
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
