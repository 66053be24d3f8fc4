import { deepEqual } from "node:assert/strict";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import type { Db } from "../../src/db/database.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { ledgerChecks } from "../../src/ledger/checks.ts";
import { watchChecks } from "../../src/watch/checks.ts";

/** Fails with the rows of any station that contradict each other. */
export async function assertAllChecks(db: Db): Promise<void> {
  deepEqual(await runLedgerChecks(db), []);
}

/** Runs the ledger and watch checks alone, for intents without events and transfers without settlements. */
export async function assertLedgerAndWatchChecks(db: Db): Promise<void> {
  const excluded = new Set(["sweep-empties-inbox", "outflow-recipient-is-pinned"]);
  const included = [...ledgerChecks, ...watchChecks].filter(({ name }) => !excluded.has(name));
  deepEqual(await runChecks(db, included), []);
}
