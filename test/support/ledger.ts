import { deepEqual } from "node:assert/strict";
import { checks, runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import type { Db } from "../../src/db/database.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { ledgerChecks } from "../../src/ledger/checks.ts";
import { watchChecks } from "../../src/watch/checks.ts";

/** Fails with the rows that contradict each other, anywhere on the road. */
export async function assertAllHolds(db: Db): Promise<void> {
  deepEqual(await runLedgerChecks(db), []);
}

/** The same of what was recorded and booked alone, for intents that no event tells of and transfers that no settlement made. */
export async function assertBooksHold(db: Db): Promise<void> {
  const notHere = new Set(["sweep-empties", "paid-where-pinned"]);
  const here = [...ledgerChecks, ...watchChecks].filter(({ name }) => !notHere.has(name));
  deepEqual(await runChecks(db, here), []);
}

/** The names of the checks that fail. */
export async function failing(db: Db): Promise<string[]> {
  return (await runChecks(db, checks)).map(({ check }) => check);
}
