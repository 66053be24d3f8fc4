import type { Logger } from "pino";
import type { Timer } from "../clock.ts";

// A warning that repeats is logged when it first occurs, and then at intervals that double. A lasting failure therefore
// fills no log.

const INTERVAL_MS_MIN = 60_000;
const INTERVAL_MS_MAX = 3_600_000;
/** Far more than the kinds of failures that last at the same time. */
const KEYS_MAX = 1_000;

type Repetition = { loggedAtMs: number; intervalMs: number; suppressed: number };

const repetitions = new WeakMap<Logger, Map<string, Repetition>>();

export type RepeatedWarning = {
  /**
   * Warnings with the same key are repetitions: the place and the kind of failure, without ids that differ each time.
   */
  key: string;
  fields: Readonly<Record<string, unknown>>;
  message: string;
};

/** Logs a warning, or counts it when it was logged recently. The next line has their number in `repeats`. */
export function warnRepeated(world: { log: Logger; clock: Timer }, { key, fields, message }: RepeatedWarning): void {
  const known = repetitions.get(world.log) ?? new Map<string, Repetition>();
  repetitions.set(world.log, known);
  const nowMs = world.clock.monotonicMs();
  const last = known.get(key);
  const sinceMs = last === undefined ? Infinity : nowMs - last.loggedAtMs;
  if (last !== undefined && sinceMs < last.intervalMs) {
    last.suppressed += 1;
    return;
  }
  // A failure that stayed away for two intervals is a new one.
  const isNew = last === undefined || sinceMs > 2 * last.intervalMs;
  const repeats = last?.suppressed ?? 0;
  if (known.size >= KEYS_MAX) known.clear();
  known.set(key, {
    loggedAtMs: nowMs,
    intervalMs: isNew ? INTERVAL_MS_MIN : Math.min(last.intervalMs * 2, INTERVAL_MS_MAX),
    suppressed: 0,
  });
  world.log.warn(repeats === 0 ? fields : { ...fields, repeats }, message);
}
