import type { Db } from "../db/database.ts";
import { depositChecks } from "../deposit/checks.ts";
import { intentChecks } from "../intent/checks.ts";
import { runChecks, type Check, type Violation } from "../ledger/check.ts";
import { ledgerChecks } from "../ledger/checks.ts";
import { settlementChecks } from "../settlement/checks.ts";
import { watchChecks } from "../watch/checks.ts";

/** Everything that must hold, from the ledger to what was told of it. Each check stands with the station whose rows it is about. */
export const ledgerAuditChecks: readonly Check[] = [
  ...ledgerChecks,
  ...intentChecks,
  ...watchChecks,
  ...depositChecks,
  ...settlementChecks,
];

/**
 * Looks for rows that contradict each other, at any moment and beside any number of writers: each check is one statement. Empty when all is
 * well. It reads whole tables.
 */
export async function runLedgerChecks(db: Db): Promise<Violation[]> {
  return runChecks(db, ledgerAuditChecks);
}
