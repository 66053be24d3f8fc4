import { setTimeout as delay } from "node:timers/promises";
import process from "node:process";
import { findPort } from "../../src/cli/dev/port.ts";
import { openSite } from "../support/service.ts";
import { openChaos, settleAll } from "./kill.ts";
import { Merchants, type Acknowledged } from "./merchants.ts";
import { Payers } from "./payers.ts";
import { Random } from "./random.ts";
import { unsettled, verify, type Findings } from "./verify.ts";

// Two services share one database, and one of them is stopped like a machine that hangs, for longer than anybody waits for it. When it
// goes on it believes that nothing has happened meanwhile; whatever it had begun must not be done a second time.

export type PauseOptions = {
  pauses: number;
  pauseMsMin: number;
  pauseMsMax: number;
  seed: number;
  say?: (line: string) => void;
};

export type PauseReport = Findings & {
  pauses: number;
  payments: number;
  acknowledged: number;
  unsettled: number;
  exitCodes: (number | null)[];
};

const BETWEEN_MS_MAX = 1_500;

export async function runPauses(options: PauseOptions): Promise<PauseReport> {
  const chaos = await openChaos();
  const { chain, db, databaseUrl } = chaos;
  const other = await openSite({ chain, databaseUrl, port: await findPort("127.0.0.1", 0) });
  try {
    const random = new Random(options.seed);
    const running = [await chaos.site.start(), await other.start()] as const;
    const acknowledged: Acknowledged[] = [];
    const payers = new Payers({ chain, random: new Random(random.below(2 ** 31)), acknowledged });
    const load = new AbortController();
    const atWork = chaos.merchants.map((merchant, index) => {
      const { baseUrl } = [chaos.site, other][index % 2] ?? chaos.site;
      // Wishes are told apart by their numbers, so each door has merchants and numbers of its own.
      return new Merchants(baseUrl, new Random(random.below(2 ** 31)), acknowledged).work(merchant, load.signal);
    });
    atWork.push(payers.work(load.signal));
    for (let pause = 1; pause <= options.pauses; pause += 1) {
      await delay(random.below(BETWEEN_MS_MAX));
      const { pid } = running[random.below(2)] ?? running[0];
      const pauseMs = options.pauseMsMin + random.below(options.pauseMsMax - options.pauseMsMin);
      process.kill(pid, "SIGSTOP");
      await delay(pauseMs);
      process.kill(pid, "SIGCONT");
      options.say?.(`pause ${pause} of ${pauseMs} ms: ${payers.payments} paid`);
    }
    load.abort();
    await Promise.all(atWork);
    await settleAll(chaos);
    const exitCodes = await Promise.all(running.map((service) => service.stop()));
    const findings = await verify(db, { chain, acknowledged });
    return {
      ...findings,
      pauses: options.pauses,
      payments: payers.payments,
      acknowledged: acknowledged.length,
      unsettled: await unsettled(db),
      exitCodes,
    };
  } finally {
    await other.remove();
    await chaos.close();
  }
}
