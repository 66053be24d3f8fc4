import type { World } from "../world.ts";
import { CommandError } from "./errors.ts";
import {
  changeAccount,
  createAccount,
  listAccounts,
  resumeAccount,
  showAccount,
  suspendAccount,
  updateAccountBrand,
} from "./accountOperations.ts";
import { runDoctorChecks } from "./doctor/runDoctorChecks.ts";
import { listEvents } from "./eventOperations.ts";
import { checkLedger, listLedgerBalances, readLedgerPage } from "./ledgerOperations.ts";
import { archiveOperatorIntent, exportIntents, listIntents, showIntent } from "./intentOperations.ts";
import { createOpsLink } from "./status/opsLink.ts";
import { importIntents, searchIntents } from "./restore/importIntents.ts";
import { markRestore } from "./restore/markRestore.ts";
import { rescan } from "./rescanTarget.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./keyOperations.ts";
import { disableOrigin, enableOrigin, listOrigins } from "./originOperations.ts";
import { addPageOrigin, listPageOrigins, removePageOrigin } from "./pageOriginOperations.ts";
import { getStatus } from "./status/getStatus.ts";
import { getWatchStatus } from "./getWatchStatus.ts";
import {
  createWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
} from "./webhooks/webhookOperations.ts";
import { addMember, listMembers, removeMember, linkMember } from "./team/memberOperations.ts";
import { listPayoutChanges, stopChange } from "./team/payoutChangeOperations.ts";
import { defineOperatorOperation, type OperatorOperation } from "./operation/operatorOperation.ts";

// The operator's operations by name.

const OPERATIONS = {
  "accounts create": createAccount,
  "accounts list": listAccounts,
  "accounts show": showAccount,
  "accounts update": changeAccount,
  "accounts brand": updateAccountBrand,
  "accounts suspend": suspendAccount,
  "accounts resume": resumeAccount,
  "accounts origins add": addPageOrigin,
  "accounts origins remove": removePageOrigin,
  "accounts origins list": listPageOrigins,
  "accounts payout-changes": listPayoutChanges,
  "accounts stop-change": stopChange,
  "members add": addMember,
  "members list": listMembers,
  "members remove": removeMember,
  "members link": linkMember,
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
  "intents export": exportIntents,
  "intents import": importIntents,
  "intents search": searchIntents,
  "events list": listEvents,
  "webhooks create": createWebhook,
  "webhooks list": listWebhooks,
  "webhooks update": updateWebhook,
  "webhooks delete": deleteWebhook,
  "webhooks rotate": rotateWebhook,
  "webhooks test": testWebhook,
  "webhooks deliveries": listWebhookDeliveries,
  "webhooks redeliver": redeliverWebhook,
  "ops link": createOpsLink,
  "restore mark": markRestore,
  rescan,
  status: defineOperatorOperation({ effect: "read", input: {}, run: getStatus }),
  doctor: defineOperatorOperation({ effect: "read", input: {}, run: runDoctorChecks }),
  "ledger check": checkLedger,
  "ledger export": readLedgerPage,
  "ledger balances": listLedgerBalances,
  "watch status": defineOperatorOperation({ effect: "read", input: {}, run: getWatchStatus }),
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type OperationInput<Name extends OperationName> = NonNullable<(typeof OPERATIONS)[Name]["given"]>;
/** The same on a world and through the socket: outputs have only what JSON has. */
export type OperationOutput<Name extends OperationName> = Awaited<ReturnType<(typeof OPERATIONS)[Name]["run"]>>;

type Operations = { [Name in OperationName]: OperatorOperation<OperationInput<Name>, OperationOutput<Name>> };

/** By the names that commands and callers use. */
export const OPERATOR_OPERATIONS: Operations = OPERATIONS;

export async function runOperation<Name extends OperationName>(
  world: World,
  name: Name,
  input: unknown,
): Promise<OperationOutput<Name>> {
  return await OPERATOR_OPERATIONS[name].run(world, input);
}

/** Runs an operation for a caller that may be another version. Throws CommandError for an unknown name. */
export async function runNamedOperation(world: World, name: string, input: unknown): Promise<unknown> {
  if (!isOperation(name))
    throw new CommandError(
      `The running process does not support ${JSON.stringify(name)}: it may be another version of Tributary.`,
    );
  return await runOperation(world, name, input);
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
