import { addMs } from "../../kernel/clock.ts";
import type { World } from "../../world.ts";
import { addChangesToDays, deleteOldDays } from "./settlementDayStore.ts";

type DayWorld = Pick<World, "db" | "clock">;

const DAY_MS = 86_400_000;
/** Changes that one statement adds to their days. */
const BATCH_MAX = 1_000;
/** Three years. A day has a row for each chain and token on which an account was paid. */
const DAYS_KEPT = 1_100;

/** Brings the days up to date, and returns whether there is more. */
export async function updateSettlementDays({ db }: Pick<DayWorld, "db">): Promise<boolean> {
  return (await addChangesToDays(db, BATCH_MAX)) === BATCH_MAX;
}

export function purgeSettlementDays({ db, clock }: DayWorld, limit: number): Promise<number> {
  const before = toDay(addMs(clock.now(), -DAYS_KEPT * DAY_MS));
  return deleteOldDays(db, { before, limit });
}

/** The day of a moment in UTC, such as 2026-11-28. */
export function toDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
