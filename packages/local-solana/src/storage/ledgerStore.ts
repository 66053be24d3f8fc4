import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { runTransaction } from "../ledger/execute.ts";
import { restoreAccount } from "../ledger/accountState.ts";
import { Ledger } from "../ledger/ledger.ts";
import type { LedgerOptions, LedgerState, Operation } from "../ledger/ledger.ts";
import { parseTransaction } from "../ledger/transaction.ts";

// Stores a ledger in a directory: a snapshot, and a journal of all that happened since. After kill -9 the journal
// brings everything back. Each snapshot begins a new journal, which has the snapshot's number in its name.

export type OpenedLedger = { readonly ledger: Ledger; readonly close: () => void };

type Snapshot = { readonly number: number; readonly state: LedgerState };

/** Replaying them takes about two seconds. */
const OPERATIONS_MAX = 20_000;

/**
 * Opens the stored ledger of the directory, or a new one that `install` completes. What happens to it from now on is
 * stored; the result's `close` stores a last snapshot. Throws an Error when the directory belongs to another chain.
 */
export function openStoredLedger(
  directory: string,
  options: LedgerOptions,
  install: (ledger: Ledger) => void,
): OpenedLedger {
  mkdirSync(directory, { recursive: true });
  const stored = readSnapshot(directory);
  const ledger = new Ledger(options, stored?.state);
  if (stored === undefined) install(ledger);
  else replay(ledger, readJournal(journalOf(directory, stored.number)));
  let number = stored?.number ?? 0;
  let operations = 0;
  const save = () => {
    number += 1;
    writeSnapshot(directory, { number, state: ledger.toState() });
    rmSync(journalOf(directory, number - 1), { force: true });
    operations = 0;
  };
  save();
  ledger.listeners.add({
    operation: (operation) => {
      appendFileSync(journalOf(directory, number), `${serialize(operation).toString("base64")}\n`);
      operations += 1;
      // A snapshot is taken between two operations, not inside one.
      if (operations === OPERATIONS_MAX) queueMicrotask(save);
    },
  });
  return { ledger, close: save };
}

function replay(ledger: Ledger, operations: readonly Operation[]): void {
  for (const operation of operations) {
    switch (operation.kind) {
      case "slot":
        ledger.nextSlot(operation.skipped, operation.time);
        break;
      case "fork":
        ledger.fork(operation.depth, operation.time);
        break;
      case "time":
        ledger.setTime(operation.time);
        break;
      case "account":
        ledger.setAccount(operation.key, restoreAccount(operation.account));
        break;
      case "transaction":
        if (runTransaction(ledger, parseTransaction(operation.wire)) === undefined)
          throw new Error("a stored transaction no longer lands");
        break;
    }
  }
}

function journalOf(directory: string, number: number): string {
  return join(directory, `journal.${number}`);
}

/** A line that a kill cut off is left out. */
function readJournal(path: string): Operation[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => deserialize(Buffer.from(line, "base64")) as Operation);
}

function readSnapshot(directory: string): Snapshot | undefined {
  const path = join(directory, "snapshot");
  return existsSync(path) ? (deserialize(readFileSync(path)) as Snapshot) : undefined;
}

function writeSnapshot(directory: string, snapshot: Snapshot): void {
  const [path, next] = [join(directory, "snapshot"), join(directory, "snapshot.next")];
  writeFileSync(next, serialize(snapshot));
  renameSync(next, path);
}
