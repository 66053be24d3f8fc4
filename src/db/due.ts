import { sql, type RawBuilder } from "kysely";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../kernel/clock.ts";

/**
 * SQL condition: the time in `column` has come. `waitMsMax` is the longest wait in milliseconds that any code writes
 * there. A time further ahead counts as come, because the clock has stepped back since it was written. A margin covers
 * processes whose clocks differ.
 */
export function isDue(column: string, { now, waitMsMax }: { now: Date; waitMsMax: number }): RawBuilder<boolean> {
  const latest = addMs(now, waitMsMax + CLOCK_DIFFERENCE_MS_MAX);
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${latest})`;
}
