import { setTimeout as delay } from "node:timers/promises";
import { chooseFreePort } from "../support/freePort.ts";
import { openInstallation, type RunningService, type ServiceInstallation } from "../support/serviceInstallation.ts";
import { countUnrecordedBlocks, openChaosContext, waitUntilSettled, type ChaosContext } from "./runKills.ts";
import { MerchantClients, type AcknowledgedIntent } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// Two services share one database and one chain with reorgs. They are killed in turn under load. At the end one stops,
// and the other one must record, count and settle everything alone, with the memory that the run gave it.

export type ProcessPairOptions = {
  kills: number;
  seed: number;
  /** The average number of payments per reorg. */
  reorgOnceIn: number;
  /** The maximum time between two kills. */
  intervalMsMax?: number;
};

export type ProcessPairReport = Findings & {
  kills: number;
  acknowledged: number;
  payments: number;
  reorgs: number;
  settlements: number;
  unsettled: number;
  /** Blocks that the remaining service did not record. */
  unrecordedBlocks: number;
  exitCodes: (number | null)[];
  /** The end of the remaining service's output. */
  output: string;
};

type Pair = readonly [ServiceInstallation, ServiceInstallation];

const INTERVAL_MS_MAX = 2_000;
/** One in this many kills ends both services at once. */
const KILL_BOTH_ONE_IN = 5;
/** Payments and blocks after the first service stopped. */
const LAST_PAYMENTS = 3;
const OUTPUT_CHARS_MAX = 4_000;

/** One run on a new database and a new chain. */
export async function runProcessPair(options: ProcessPairOptions): Promise<ProcessPairReport> {
  const chaos = await openChaosContext();
  const { chain, databaseUrl } = chaos;
  const other = await openInstallation({ chain, databaseUrl, port: await chooseFreePort() });
  try {
    return await killInTurn(chaos, [chaos.installation, other], options);
  } finally {
    await other.remove();
    await chaos.close();
  }
}

/** Whether the run lost, repeated or left nothing, and both services ended in order. */
export function isSoundPair(report: ProcessPairReport): boolean {
  const { lost, duplicated, ledger, unsettled, unrecordedBlocks, exitCodes } = report;
  return (
    [...lost, ...duplicated, ...ledger].length === 0 &&
    unsettled === 0 &&
    unrecordedBlocks === 0 &&
    exitCodes.every((code) => code === 0)
  );
}

async function killInTurn(chaos: ChaosContext, pair: Pair, options: ProcessPairOptions): Promise<ProcessPairReport> {
  const { chain, db } = chaos;
  const { kills, seed, reorgOnceIn, intervalMsMax = INTERVAL_MS_MAX } = options;
  const random = new SeededRandom(seed);
  const acknowledged: AcknowledgedIntent[] = [];
  const payers = new Payers({ chain, random: new SeededRandom(random.below(2 ** 31)), acknowledged, reorgOnceIn });
  const running = await startBoth(pair);
  const load = new AbortController();
  const clients = chaos.merchants.map((merchant, index) => {
    const { baseUrl } = index % 2 === 0 ? pair[0] : pair[1];
    const client = new MerchantClients(baseUrl, new SeededRandom(random.below(2 ** 31)), acknowledged);
    return { client, ended: client.run(merchant, load.signal) };
  });
  const paying = payers.run(load.signal);
  for (let kill = 0; kill < kills; kill += 1) {
    await delay(random.below(intervalMsMax));
    const first = random.below(2);
    const places = random.oneIn(KILL_BOTH_ONE_IN) ? [first, 1 - first] : [first];
    await Promise.all(
      places.map(async (place) => {
        await running[place]?.kill();
        running[place] = await at(pair, place).start();
      }),
    );
  }
  load.abort();
  await Promise.all([paying, ...clients.map(({ ended }) => ended)]);
  const stopped = random.below(2);
  const exitCodes = [await at(running, stopped).stop()];
  const remaining = at(running, 1 - stopped);
  for (let payment = 0; payment < LAST_PAYMENTS; payment += 1) await payers.pay(random.pick(acknowledged));
  await waitUntilSettled(chaos);
  const unrecordedBlocks = await countUnrecordedBlocks(chaos);
  exitCodes.push(await remaining.stop());
  const findings = await verifyFinalState(db, { chain, acknowledged });
  const notFound = clients.flatMap(({ client }) => client.counts.notFound);
  findings.lost.push(...notFound.map((intentId) => `intent ${intentId} was acknowledged and then not found`));
  const landed = await db.root.selectFrom("settlement").select("id").where("status", "=", "landed").execute();
  return {
    ...findings,
    kills,
    acknowledged: acknowledged.length,
    payments: payers.payments,
    reorgs: payers.reorgs,
    settlements: landed.length,
    unsettled: await countUnsettled(db),
    unrecordedBlocks,
    exitCodes,
    output: remaining.output().slice(-OUTPUT_CHARS_MAX),
  };
}

async function startBoth([one, other]: Pair): Promise<RunningService[]> {
  return Promise.all([one.start(), other.start()]);
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no service ${index}`);
  return item;
}
