import type { Clock } from "../../src/kernel/clock.ts";
import type { SeededRandom } from "./seededRandom.ts";
import type { Scheduler } from "./scheduler.ts";

/** What everything that a crashed process still asks for is answered with. */
export class ProcessCrashed extends Error {
  override readonly name = "ProcessCrashed";
}

/** More calls than this after its end, and something in the product takes a crash for a failure and goes on. */
const CALLS_AFTER_CRASH_MAX = 200;

type PendingWait = { resolve: () => void; reject: (error: Error) => void };

/** One process of the service: it waits for its turn, can be stopped for a while like a program under SIGSTOP, and can end at any call. */
export class SimProcess {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  hasCrashed = false;
  /** How far its clock is from the right time. */
  skewMs = 0;
  /** Loops of a busy machine sleep longer than they asked to. */
  slowdown = 1;
  readonly #pendingWaits = new Set<PendingWait>();
  #pausedUntilMs = 0;
  #callsAfterCrash = 0;

  constructor(parts: { name: string; scheduler: Scheduler; random: SeededRandom }) {
    this.name = parts.name;
    this.scheduler = parts.scheduler;
    this.random = parts.random;
  }

  /** Throws when the process has ended. Every call out of it begins with this. */
  assertRunning(): void {
    if (!this.hasCrashed) return;
    this.#callsAfterCrash += 1;
    if (this.#callsAfterCrash > CALLS_AFTER_CRASH_MAX) throw new Error(`${this.name} goes on after its end`);
    throw new ProcessCrashed(`${this.name} has ended`);
  }

  /** Whether it went on asking long after it had ended. */
  get ignoresCrash(): boolean {
    return this.#callsAfterCrash > CALLS_AFTER_CRASH_MAX;
  }

  /** Waits `durationMs` of virtual time, longer when the process is stopped meanwhile; rejects when it ends. */
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

  /** Stops it for a while: nothing that it waits for reaches it before. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.scheduler.nowMs + durationMs);
  }

  /** Ends it as kill -9 does: whatever it waits for rejects, and so does everything that it asks from now on. */
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

/** The clock of a process: virtual time, as wrong as that of its machine. */
export function createProcessClock(process: SimProcess, startMs: number): Clock {
  const { scheduler } = process;
  return {
    now: () => {
      process.assertRunning();
      return new Date(startMs + Math.floor(scheduler.nowMs) + process.skewMs);
    },
    monotonicMs: () => {
      process.assertRunning();
      return scheduler.nowMs;
    },
    sleep: (durationMs, signal) => process.wait(durationMs * process.slowdown, signal),
  };
}
