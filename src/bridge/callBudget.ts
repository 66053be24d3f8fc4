import type { Db } from "../db/database.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../kernel/clock.ts";
import { closeBudgets, takeBudget } from "./budget/budgetStore.ts";

// All processes together make at most ten calls a second to a bridge's service: nine about burns and one about fees. It
// answers 35 and refuses everything for five minutes after more.

/** The least time that one call of a kind takes of the budget, in milliseconds. */
const CALL_MS = { messages: 112, fees: 1_000 } as const;
const REFUSED_MS = 300_000;

export type CallKind = keyof typeof CALL_MS;

/** The most calls that one lease may have: those of a second. */
export const CALLS_MAX = { messages: 9, fees: 1 } as const satisfies Record<CallKind, number>;

/** Takes calls from the budget of all processes; false while it is used up. At most CALLS_MAX at a time. */
export async function leaseCalls(
  db: Db,
  { kind, calls, at }: { kind: CallKind; calls: number; at: Date },
): Promise<boolean> {
  const freeAt = addMs(at, calls * CALL_MS[kind]);
  // A time further ahead was stored before a clock stepped back.
  const latest = addMs(at, REFUSED_MS + CLOCK_DIFFERENCE_MS_MAX);
  return takeBudget(db, { name: kind, freeAt, at, latest });
}

/** Stops all calls for five minutes, because the service has refused one. */
export async function pauseCalls(db: Db, at: Date): Promise<void> {
  await closeBudgets(db, Object.keys(CALL_MS), addMs(at, REFUSED_MS));
}
