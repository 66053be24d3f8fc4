import { setTimeout as delay } from "node:timers/promises";
import process from "node:process";
import { chooseFreePort } from "../support/freePort.ts";
import { openInstallation } from "../support/serviceInstallation.ts";
import { openChaosContext, waitUntilSettled } from "./runKills.ts";
import { MerchantClients, type AcknowledgedIntent } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled, verifyFinalState, type Findings } from "./verifyFinalState.ts";

// Two services share one database. One of them pauses like a hung machine, for longer than any timeout, then resumes
// with stale state; its unfinished work must not happen twice.

export type PauseOptions = {
  pauses: number;
  pauseMsMin: number;
  pauseMsMax: number;
  seed: number;
  log?: (line: string) => void;
};

export type PauseReport = Findings & {
  pauses: number;
  payments: number;
  acknowledged: number;
  unsettled: number;
  exitCodes: (number | null)[];
};

const INTERVAL_MS_MAX = 1_500;

export async function runPauses(options: PauseOptions): Promise<PauseReport> {
  const chaos = await openChaosContext();
  const { chain, db, databaseUrl } = chaos;
  const other = await openInstallation({ chain, databaseUrl, port: await chooseFreePort() });
  try {
    const random = new SeededRandom(options.seed);
    const running = [await chaos.installation.start(), await other.start()] as const;
    const acknowledged: AcknowledgedIntent[] = [];
    const payers = new Payers({ chain, random: new SeededRandom(random.below(2 ** 31)), acknowledged });
    const load = new AbortController();
    const workers = chaos.merchants.map((merchant, index) => {
      const { baseUrl } = [chaos.installation, other][index % 2] ?? chaos.installation;
      // Creates are numbered per client, so each merchant has its own client and service.
      return new MerchantClients(baseUrl, new SeededRandom(random.below(2 ** 31)), acknowledged).run(
        merchant,
        load.signal,
      );
    });
    workers.push(payers.run(load.signal));
    for (let pause = 1; pause <= options.pauses; pause += 1) {
      await delay(random.below(INTERVAL_MS_MAX));
      const { pid } = running[random.below(2)] ?? running[0];
      const pauseMs = options.pauseMsMin + random.below(options.pauseMsMax - options.pauseMsMin);
      process.kill(pid, "SIGSTOP");
      await delay(pauseMs);
      process.kill(pid, "SIGCONT");
      options.log?.(`pause ${pause} of ${pauseMs} ms: ${payers.payments} paid`);
    }
    load.abort();
    await Promise.all(workers);
    await waitUntilSettled(chaos);
    const exitCodes = await Promise.all(running.map((service) => service.stop()));
    const findings = await verifyFinalState(db, { chain, acknowledged });
    return {
      ...findings,
      pauses: options.pauses,
      payments: payers.payments,
      acknowledged: acknowledged.length,
      unsettled: await countUnsettled(db),
      exitCodes,
    };
  } finally {
    await other.remove();
    await chaos.close();
  }
}
