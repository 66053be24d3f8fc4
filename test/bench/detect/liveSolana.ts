import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase, type Db } from "../../../src/db/database.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { runLoops } from "../../../src/loops/runLoops.ts";
import { registerView } from "../../../src/view/registerView.ts";
import { startPostgres } from "../../support/postgres.ts";
import { openSolanaRoad, type SolanaRoad } from "../../support/solanaRoad.ts";
import { heading, percentile, tabulate } from "./statistics.ts";

// Measures the time from a deposit's block on a local Solana to its committed row, while a payer looks at the inbox.
// The chain runs in the same process, so its own work is part of the figures.

const SLOT_MS = 400;
const GOAL_MS = SLOT_MS + 50;
const PAYMENTS = 40;
const WARM_UP = 10;
const TIMEOUT_MS = 20_000;
/** Between a payer's view and the payment, in slots. */
const VIEWED_SLOTS = 3;

type Waits = { fromBlock: number[]; fromPayment: number[] };

/** Prints the time from block to row on each database. PostgreSQL runs with fsync. */
export async function benchLiveSolana(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "tributary-bench-solana-"));
  const postgres = await startPostgres(undefined, { isDurable: true });
  try {
    const rows: string[][] = [];
    for (const [kind, open] of [
      ["postgres", () => openDatabase({ url: postgres.urlOf("postgres") })],
      ["pglite", () => openDatabase({ directory: join(scratch, "pglite") })],
    ] as const) {
      const { fromBlock, fromPayment } = await measure(await open());
      rows.push(rowOf(`${kind}, block complete → row`, fromBlock), rowOf(`${kind}, payment → row`, fromPayment));
    }
    console.log(`a slot takes ${SLOT_MS} ms; the goal is ${GOAL_MS} ms from the block, for an inbox in view`);
    console.log(tabulate([["ms", "p50", "p90", "slowest"], ...rows]));
  } finally {
    await postgres.remove();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function measure(db: Db): Promise<Waits> {
  await migrate(db, { appliedAt: systemClock.now() });
  const road = await openSolanaRoad({ db, hasFeed: true });
  const slots = runSlots(road);
  const ending = new AbortController();
  const loops = runLoops(road.world, ending.signal);
  const waits: Waits = { fromBlock: [], fromPayment: [] };
  try {
    for (let payment = 0; payment < PAYMENTS + WARM_UP; payment += 1) {
      const { fromBlock, fromPayment } = await waitForRow(road, slots, payment);
      if (payment < WARM_UP) continue;
      waits.fromBlock.push(fromBlock);
      waits.fromPayment.push(fromPayment);
    }
  } finally {
    ending.abort();
    await loops;
    slots.stop();
    await road.close();
  }
  return waits;
}

type Slots = { next: () => Promise<number>; stop: () => void };

/** Ends a slot every 400 milliseconds, and says when. */
function runSlots({ solana: { control } }: SolanaRoad): Slots {
  let ended = Promise.withResolvers<number>();
  const timer = setInterval(() => {
    control.nextSlot();
    const now = ended;
    ended = Promise.withResolvers<number>();
    now.resolve(performance.now());
  }, SLOT_MS);
  return { next: () => ended.promise, stop: () => clearInterval(timer) };
}

async function waitForRow(
  road: SolanaRoad,
  slots: Slots,
  payment: number,
): Promise<{ fromBlock: number; fromPayment: number }> {
  const intent = await road.create({ merchantReference: `payment ${payment}`, priceUnits: 25_000_000 + payment });
  await registerView(road.world, intent);
  for (let slot = 0; slot < VIEWED_SLOTS; slot += 1) await slots.next();
  // Anywhere in a slot.
  await delay((payment * 37) % SLOT_MS);
  const paidAt = performance.now();
  const chainTx = road.pay(intent, 1_000_000n);
  const blockAt = await slots.next();
  while (!(await isRecorded(road, chainTx))) {
    if (performance.now() - paidAt > TIMEOUT_MS) throw new Error(`${chainTx} was not recorded`);
    await delay(2);
  }
  const recordedAt = performance.now();
  return { fromBlock: recordedAt - blockAt, fromPayment: recordedAt - paidAt };
}

async function isRecorded({ db }: SolanaRoad, chainTx: string): Promise<boolean> {
  const query = db.root.selectFrom("movement").select("id").where("chain_tx", "=", chainTx);
  return (await query.executeTakeFirst()) !== undefined;
}

function rowOf(name: string, waits: readonly number[]): string[] {
  return [name, ...[0.5, 0.9, 1].map((share) => percentile(waits, share).toFixed(0))];
}

if (import.meta.main) {
  console.log(heading({ litesvm: "1.5.0" }));
  await benchLiveSolana();
}
