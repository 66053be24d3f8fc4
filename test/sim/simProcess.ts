import type { Clock } from "../../src/kernel/clock.ts";
import type { SeededRandom } from "./seededRandom.ts";
import type { Scheduler } from "./scheduler.ts";

/** Rejects every call of a crashed process. */
export class ProcessCrashed extends Error {
  override readonly name = "ProcessCrashed";
}

/** A process with more calls than this after its crash treats the crash as a failure and continues, which is a bug. */
const CALLS_AFTER_CRASH_MAX = 200;

type PendingWait = { resolve: () => void; reject: (error: Error) => void };

/** One process of the service. It waits in virtual time, can pause as under SIGSTOP, and can crash at any call. */
export class SimProcess {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  hasCrashed = false;
  /** The offset of its clock from the database's time. */
  skewMs = 0;
  /** The offset of the database's time from the true time, as this process last read it. */
  databaseOffsetMs = 0;
  /** The factor by which a busy machine lengthens the sleeps of loops. */
  slowdown = 1;
  readonly #pendingWaits = new Set<PendingWait>();
  #pausedUntilMs = 0;
  #callsAfterCrash = 0;

  constructor(parts: { name: string; scheduler: Scheduler; random: SeededRandom }) {
    this.name = parts.name;
    this.scheduler = parts.scheduler;
    this.random = parts.random;
  }

  /** Throws when the process has ended. Every call out of the process begins with this check. */
  assertRunning(): void {
    if (this.isEnded()) throw new ProcessCrashed(`${this.name} has ended`);
  }

  /** Whether the process has ended, for calls that must not throw. A process that calls on and on throws even here. */
  isEnded(): boolean {
    if (!this.hasCrashed) return false;
    this.#callsAfterCrash += 1;
    if (this.#callsAfterCrash > CALLS_AFTER_CRASH_MAX) throw new Error(`${this.name} continues after its end`);
    return true;
  }

  /** Whether the process kept calling long after its crash. */
  get ignoresCrash(): boolean {
    return this.#callsAfterCrash > CALLS_AFTER_CRASH_MAX;
  }

  /** Waits `durationMs` of virtual time, longer while the process is paused. Rejects when the process ends. */
  async wait(durationMs: number, signal?: AbortSignal): Promise<void> {
    this.assertRunning();
    if (signal?.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const waiting = { resolve: () => done(resolve), reject: (error: Error) => done(() => reject(error)) };
      const done = (settle: () => void) => {
        signal?.removeEventListener("abort", waiting.resolve);
        if (this.#pendingWaits.delete(waiting)) settle();
      };
      this.#pendingWaits.add(waiting);
      signal?.addEventListener("abort", waiting.resolve, { once: true });
      this.#schedule(waiting, durationMs);
    });
  }

  /** Pauses the process: no wait of it resolves before the pause ends. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.scheduler.nowMs + durationMs);
  }

  /** Ends the process as kill -9 does: all pending waits and later calls reject. */
  crash(): void {
    if (this.hasCrashed) return;
    this.hasCrashed = true;
    for (const waiting of this.#pendingWaits) waiting.reject(new ProcessCrashed(`${this.name} has crashed`));
  }

  #schedule(waiting: PendingWait, durationMs: number): void {
    this.scheduler.after(durationMs, () => {
      if (!this.#pendingWaits.has(waiting)) return false;
      const leftMs = this.#pausedUntilMs - this.scheduler.nowMs;
      if (leftMs > 0) this.#schedule(waiting, leftMs);
      else waiting.resolve();
      return leftMs <= 0;
    });
  }
}

/** The clock of a process: the database's time as the process last read it, plus its error. */
export function createProcessClock(process: SimProcess, startMs: number): Clock {
  const { scheduler } = process;
  return {
    now: () => {
      process.assertRunning();
      return new Date(startMs + Math.floor(scheduler.nowMs) + process.databaseOffsetMs + process.skewMs);
    },
    monotonicMs: () => {
      process.assertRunning();
      return scheduler.nowMs;
    },
    sleep: (durationMs, signal) => process.wait(durationMs * process.slowdown, signal),
  };
}
