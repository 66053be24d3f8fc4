import { DatabaseCrashed } from "../db/errors.ts";
import { AssertionFailed } from "../kernel/assert.ts";
import type { World } from "../world.ts";

export type LoopWorld = Pick<World, "clock" | "wake" | "log">;

export type Loop = {
  /** For logs. */
  name: string;
  /** What wakes it before its interval has passed. */
  topic: string;
  intervalMs: number;
  /** One bounded piece of work. True when more is waiting already. Nothing new is begun once `ending` has aborted. */
  tick: (ending?: AbortSignal) => Promise<boolean>;
};

/** First wait after a failure; it doubles up to the longest. */
const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 30_000;

/**
 * Runs `tick` until `signal` aborts, and resolves once the last one has ended. A failure is logged and retried ever more
 * slowly, since the rows that it left are still there; only what proves the program itself wrong is thrown on.
 */
export async function runLoop(world: LoopWorld, loop: Loop, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const hasMore = await loop.tick(signal);
      failures = 0;
      if (!hasMore) await world.wake.wait(loop.topic, { timeoutMs: loop.intervalMs, signal });
    } catch (error) {
      if (error instanceof AssertionFailed || error instanceof DatabaseCrashed) throw error;
      const backoffMs = Math.min(BACKOFF_MS_MIN * 2 ** failures, BACKOFF_MS_MAX);
      failures += 1;
      world.log.warn({ loop: loop.name, err: error, failures, backoffMs }, `${loop.name} failed and is tried again`);
      await world.clock.sleep(backoffMs, signal);
    }
  }
}
