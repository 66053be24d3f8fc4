import { classifyError } from "../kernel/errors/classifyError.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import type { World } from "../world.ts";
import { backoffMs } from "../kernel/clock.ts";

export type LoopWorld = Pick<World, "clock" | "wake" | "log">;

export type Loop = {
  /** For logs. */
  name: string;
  /** The topic that wakes it before its interval has passed. */
  topic: string;
  intervalMs: number;
  /**
   * Does one bounded piece of work. Returns true when more is waiting. Starts nothing new once `ending` has aborted.
   */
  tick: (ending?: AbortSignal) => Promise<boolean>;
};

const BACKOFF = { firstMs: 250, maxMs: 30_000 };

/**
 * Runs `tick` until `signal` aborts, and resolves after the last tick. A failure is logged and retried with backoff,
 * because its rows are still there. Only a fatal error is rethrown.
 */
export async function runLoop(world: LoopWorld, loop: Loop, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const hasMore = await loop.tick(signal);
      failures = 0;
      if (!hasMore) await world.wake.wait(loop.topic, { timeoutMs: loop.intervalMs, signal });
    } catch (error) {
      if (classifyError(error) === "fatal") throw error;
      const waitMs = backoffMs(failures, BACKOFF);
      failures += 1;
      warnRepeated(world, {
        key: `${loop.name} ${error instanceof Error ? error.message : String(error)}`,
        fields: { loop: loop.name, err: error, failures, backoffMs: waitMs },
        message: `${loop.name} failed, retrying`,
      });
      await world.clock.sleep(waitMs, signal);
    }
  }
}
