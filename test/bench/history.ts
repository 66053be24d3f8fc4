import { parseArgs } from "node:util";
import { fillHistory } from "../cost/fillHistory.ts";
import { startOwnServer } from "../support/database.ts";
import { postgresVersion } from "../support/postgres.ts";
import { heading, median, percentile, tabulate } from "./detect/statistics.ts";
import { openBenchService, type BenchIntent, type BenchService } from "./service/benchService.ts";

// Measures a lone payment from its block to the recorded landing of its settlement, without history and with much of
// it. Both sides have a chain, a database and a service process of their own, and take turns.

const MOVEMENTS = 100_000;
const PAYMENTS = 21;
const WARM_UP_PAYMENTS = 3;
/** Payments of a skewed history: fewer than a hundred deposits, and everything else is dust. */
const SKEWED_PAYMENTS = 96;
const BLOCKS = 1_100;
const HISTORY_BLOCKS = { first: 1, last: 1_000 };
/** The ratio of the times with history to those without that is acceptable. */
const RATIO_GOAL = 1.2;

const USAGE = `Usage: npm run bench -- history [--movements=${MOVEMENTS}] [--payments=${PAYMENTS}] [--skewed]

  --movements  recorded movements before the measured payments; half of them in one inbox
  --payments   measured payments of each kind on each side
  --skewed     fewer than a hundred deposits; the rest is dust, nine tenths of it in one inbox`;

type Side = { service: BenchService; busy: BenchIntent; newMs: number[]; busyMs: number[] };

export async function benchHistory(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      movements: { type: "string", default: String(MOVEMENTS) },
      payments: { type: "string", default: String(PAYMENTS) },
      skewed: { type: "boolean", default: false },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(USAGE);
  const movements = Number(values.movements);
  console.log(heading({ anvil: "1.7.1", PostgreSQL: (await postgresVersion()).replace(/\D*/, "") }));
  const server = await startOwnServer({ isDurable: true });
  try {
    const none = await openSide("none", 900_012);
    const much = await openSide("much", 900_013, movements);
    for (const side of [none, much]) {
      await side.service.start();
      for (let payment = 0; payment < WARM_UP_PAYMENTS; payment += 1) await payEach(side);
      side.newMs = [];
      side.busyMs = [];
    }
    for (let payment = 0; payment < Number(values.payments); payment += 1)
      for (const side of [none, much]) await payEach(side);
    printSides(none, much, movements);
    for (const { service } of [none, much]) await service.close();
  } finally {
    await server.remove();
  }

  async function openSide(name: string, chainId: number, count = 0): Promise<Side> {
    const service = await openBenchService(server, { name, chainId, blocks: BLOCKS });
    await service.start();
    const pattern = await service.create("one", { "idempotency-key": "pattern" });
    const busy = await service.create("one");
    await service.settle(pattern);
    await service.settle(busy);
    await service.stop();
    // The deposit, and two legs of its settlement. Payments come in fours.
    const wanted = Math.ceil(count / 12) * 4;
    const payments = values.skewed ? Math.min(SKEWED_PAYMENTS, wanted) : wanted;
    const dust = values.skewed ? Math.max(0, count - payments * 3) : 0;
    const history = { patternIntentId: pattern.id, busyIntentId: busy.id, payments, intents: payments, dust };
    if (payments > 0) await fillHistory(service.url, { ...history, blocks: HISTORY_BLOCKS });
    return { service, busy, newMs: [], busyMs: [] };
  }
}

async function payEach(side: Side): Promise<void> {
  side.newMs.push(await side.service.settle(await side.service.create()));
  side.busyMs.push(await side.service.settle(side.busy));
}

function printSides(none: Side, much: Side, movements: number): void {
  const line = (name: string, read: (side: Side) => number[]) => [
    name,
    median(read(none)).toFixed(0),
    percentile(read(none), 0.9).toFixed(0),
    median(read(much)).toFixed(0),
    percentile(read(much), 0.9).toFixed(0),
    (median(read(much)) / median(read(none))).toFixed(2),
  ];
  console.log(
    `${none.newMs.length} payments of each kind on each side, in turns; goal: a ratio of at most ${RATIO_GOAL}`,
  );
  const titles = ["mined to landed, ms", "none p50", "p90", `${movements} movements p50`, "p90", "ratio"];
  console.log(
    tabulate([titles, line("to a new inbox", (side) => side.newMs), line("to a busy inbox", (side) => side.busyMs)]),
  );
}
