import { sql } from "kysely";
import { systemTimer, type Clock, type Timer } from "../kernel/clock.ts";
import type { Db } from "./database.ts";

// The database's clock dates everything, so that processes agree whatever their own clocks show. Other statements
// receive the time as a parameter.

/**
 * SQL for the database clock in milliseconds at the start of the statement, rounded up. It is constant in the
 * statement.
 */
export const serverClockMs = "ceil(extract(epoch from statement_timestamp()) * 1000)::bigint";

/** Samples at the start. The one with the shortest round trip is the most precise. */
const START_SAMPLES = 3;
/** `serverClockMs` is rounded up by less than this. */
const ROUNDING_MS = 1;
/** Corrections below this, in milliseconds, never turn the time back: it stands still instead. */
const STEP_MS_MIN = 1_000;

/**
 * The database's time without a query for each reading. A sample is the database's time in the middle of its round
 * trip; the process's monotonic timer counts on from there. The machine's wall clock is never read.
 */
export class ServerClock implements Clock {
  readonly #readServerMs: () => Promise<number>;
  readonly #timer: Timer;
  /** The database's time, in milliseconds, at zero of the monotonic timer. */
  #originMs = 0;
  #lastMs = -Infinity;

  private constructor(readServerMs: () => Promise<number>, timer: Timer) {
    this.#readServerMs = readServerMs;
    this.#timer = timer;
  }

  /** Takes the first samples. `readServerMs` reads the database's time in milliseconds. Rejects with its error. */
  static async open(readServerMs: () => Promise<number>, timer: Timer = systemTimer): Promise<ServerClock> {
    const clock = new ServerClock(readServerMs, timer);
    const samples = [];
    for (let count = 0; count < START_SAMPLES; count += 1) samples.push(await clock.#takeSample());
    const widthMs = ({ earliestMs, latestMs }: Sample) => latestMs - earliestMs;
    const best = samples.reduce((most, sample) => (widthMs(sample) < widthMs(most) ? sample : most));
    clock.#originMs = middleOf(best);
    return clock;
  }

  now(): Date {
    const nowMs = this.#originMs + this.#timer.monotonicMs();
    const isSmallStepBack = nowMs < this.#lastMs && this.#lastMs - nowMs < STEP_MS_MIN;
    if (!isSmallStepBack) this.#lastMs = nowMs;
    return new Date(Math.floor(this.#lastMs));
  }

  monotonicMs(): number {
    return this.#timer.monotonicMs();
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return this.#timer.sleep(durationMs, signal);
  }

  /** Follows the database's clock. A failed sample leaves the time as it is; rejects with its error. */
  async refresh(): Promise<void> {
    const sample = await this.#takeSample();
    // A slow answer proves little: the present offset stays while the answer allows it.
    if (this.#originMs < sample.earliestMs || this.#originMs > sample.latestMs) this.#originMs = middleOf(sample);
  }

  async #takeSample(): Promise<Sample> {
    const sentAtMs = this.#timer.monotonicMs();
    const serverMs = await this.#readServerMs();
    return { earliestMs: serverMs - ROUNDING_MS - this.#timer.monotonicMs(), latestMs: serverMs - sentAtMs };
  }
}

/** The bounds of the database's time at zero of the monotonic timer. */
type Sample = { earliestMs: number; latestMs: number };

function middleOf({ earliestMs, latestMs }: Sample): number {
  return (earliestMs + latestMs) / 2;
}

/** Opens the clock of a database. Rejects when the database does not answer. */
export async function openServerClock(db: Pick<Db, "root">, timer: Timer = systemTimer): Promise<ServerClock> {
  return ServerClock.open(async () => {
    const { rows } = await sql<{ ms: bigint }>`select ${sql.raw(serverClockMs)} as ms`.execute(db.root);
    return Number(rows[0]?.ms);
  }, timer);
}
