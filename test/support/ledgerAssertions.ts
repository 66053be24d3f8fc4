import { deepEqual } from "node:assert/strict";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import type { Db } from "../../src/db/database.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { ledgerChecks } from "../../src/ledger/checks.ts";
import { watchChecks } from "../../src/watch/checks.ts";

/** Fails with the rows that contradict each other, anywhere on the road. */
export async function assertAllChecks(db: Db): Promise<void> {
  deepEqual(await runLedgerChecks(db), []);
}

/** The same of what was recorded and booked alone, for intents that no event tells of and transfers that no settlement made. */
export async function assertLedgerAndWatchChecks(db: Db): Promise<void> {
  const excluded = new Set(["sweep-empties-inbox", "outflow-recipient-is-pinned"]);
  const included = [...ledgerChecks, ...watchChecks].filter(({ name }) => !excluded.has(name));
  deepEqual(await runChecks(db, included), []);
}
