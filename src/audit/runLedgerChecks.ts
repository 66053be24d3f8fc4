import type { Db } from "../db/database.ts";
import { depositChecks } from "../deposit/checks.ts";
import { intentChecks } from "../intent/checks.ts";
import { runChecks, type Check, type Violation } from "../ledger/check.ts";
import { ledgerChecks } from "../ledger/checks.ts";
import { settlementChecks } from "../settlement/checks.ts";
import { watchChecks } from "../watch/checks.ts";

/** The checks of all stations, from the ledger to the events. Each station defines the checks of its own rows. */
export const ledgerAuditChecks: readonly Check[] = [
  ...ledgerChecks,
  ...intentChecks,
  ...watchChecks,
  ...depositChecks,
  ...settlementChecks,
];

/**
 * Finds rows that contradict each other. Each check is one statement, so it may run beside any number of writers.
 * Returns an empty list when all checks hold. It reads whole tables.
 */
export async function runLedgerChecks(db: Db): Promise<Violation[]> {
  return runChecks(db, ledgerAuditChecks);
}
