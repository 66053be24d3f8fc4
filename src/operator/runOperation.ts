import type { World } from "../world.ts";
import { CommandError } from "./errors.ts";
import {
  changeAccount,
  createAccount,
  listAccounts,
  resumeAccount,
  showAccount,
  suspendAccount,
  updateAccount,
} from "./accountOperations.ts";
import { runDoctorChecks } from "./doctor/runDoctorChecks.ts";
import { listEvents } from "./eventOperations.ts";
import { checkLedger, listLedgerBalances, readLedgerPage } from "./ledgerOperations.ts";
import { archiveOperatorIntent, listIntents, showIntent } from "./intentOperations.ts";
import { rescanTarget } from "./rescanTarget.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./keyOperations.ts";
import { disableOrigin, enableOrigin, listOrigins } from "./originOperations.ts";
import { addPageOrigin, listPageOrigins, removePageOrigin } from "./pageOriginOperations.ts";
import { getStatus } from "./status/getStatus.ts";
import { getWatchStatus } from "./getWatchStatus.ts";

// The operator's operations by name. Commands run them on a world of their own or through the control socket.

type Operation = (world: World, input: unknown) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "accounts create": createAccount,
  "accounts list": listAccounts,
  "accounts show": showAccount,
  "accounts change": changeAccount,
  "accounts brand": updateAccount,
  "accounts suspend": suspendAccount,
  "accounts resume": resumeAccount,
  "accounts origins add": addPageOrigin,
  "accounts origins remove": removePageOrigin,
  "accounts origins list": listPageOrigins,
  "keys create": createKey,
  "keys list": listKeys,
  "keys rotate": rotateKey,
  "keys revoke": revokeKey,
  "origins list": listOrigins,
  "origins enable": enableOrigin,
  "origins disable": disableOrigin,
  "intents list": listIntents,
  "intents show": showIntent,
  "intents archive": archiveOperatorIntent,
  "events list": listEvents,
  rescan: rescanTarget,
  status: getStatus,
  doctor: runDoctorChecks,
  "ledger check": checkLedger,
  "ledger page": readLedgerPage,
  "ledger balances": listLedgerBalances,
  "watch status": getWatchStatus,
};

export async function runOperation(world: World, operation: string, input: unknown): Promise<unknown> {
  const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  if (run === undefined)
    throw new CommandError(
      `The running process does not support ${JSON.stringify(operation)}: it may be another version of Tributary.`,
    );
  return run(world, input);
}
