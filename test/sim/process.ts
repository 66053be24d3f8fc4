import type { Clock } from "../../src/kernel/clock.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** What everything that a crashed process still asks for is answered with. */
export class ProcessCrashed extends Error {
  override readonly name = "ProcessCrashed";
}

/** More calls than this after its end, and something in the product takes a crash for a failure and goes on. */
const CALLS_AFTER_END_MAX = 200;

type Waiting = { resolve: () => void; reject: (error: Error) => void };

/** One process of the service: it waits for its turn, can be stopped for a while like a program under SIGSTOP, and can end at any call. */
export class SimProcess {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly random: Random;
  isEnded = false;
  /** How far its clock is from the right time. */
  skewMs = 0;
  /** Loops of a busy machine sleep longer than they asked to. */
  slowness = 1;
  readonly #waiting = new Set<Waiting>();
  #pausedUntilMs = 0;
  #callsAfterEnd = 0;

  constructor(parts: { name: string; scheduler: Scheduler; random: Random }) {
    this.name = parts.name;
    this.scheduler = parts.scheduler;
    this.random = parts.random;
  }

  /** Throws when the process has ended. Every call out of it begins with this. */
  assertRunning(): void {
    if (!this.isEnded) return;
    this.#callsAfterEnd += 1;
    if (this.#callsAfterEnd > CALLS_AFTER_END_MAX) throw new Error(`${this.name} goes on after its end`);
    throw new ProcessCrashed(`${this.name} has ended`);
  }

  /** Whether it went on asking long after it had ended. */
  get isUndead(): boolean {
    return this.#callsAfterEnd > CALLS_AFTER_END_MAX;
  }

  /** Waits `durationMs` of virtual time, longer when the process is stopped meanwhile; rejects when it ends. */
  async wait(durationMs: number, signal?: AbortSignal): Promise<void> {
    this.assertRunning();
    if (signal?.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const waiting = { resolve: () => done(resolve), reject: (error: Error) => done(() => reject(error)) };
      const done = (settle: () => void) => {
        signal?.removeEventListener("abort", waiting.resolve);
        if (this.#waiting.delete(waiting)) settle();
      };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", waiting.resolve, { once: true });
      this.#schedule(waiting, durationMs);
    });
  }

  /** Stops it for a while: nothing that it waits for reaches it before. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.scheduler.nowMs + durationMs);
  }

  /** Ends it as kill -9 does: whatever it waits for rejects, and so does everything that it asks from now on. */
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    for (const waiting of this.#waiting) waiting.reject(new ProcessCrashed(`${this.name} has crashed`));
  }

  #schedule(waiting: Waiting, durationMs: number): void {
    this.scheduler.after(durationMs, () => {
      if (!this.#waiting.has(waiting)) return false;
      const leftMs = this.#pausedUntilMs - this.scheduler.nowMs;
      if (leftMs > 0) this.#schedule(waiting, leftMs);
      else waiting.resolve();
      return leftMs <= 0;
    });
  }
}

/** The clock of a process: virtual time, as wrong as that of its machine. */
export function clockOf(process: SimProcess, startMs: number): Clock {
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
    sleep: (durationMs, signal) => process.wait(durationMs * process.slowness, signal),
  };
}
