import type { World } from "../../world.ts";
import { CommandFailed } from "../command.ts";
import { createAccount, listAccounts, resumeAccount, suspendAccount } from "./accounts.ts";
import { examine } from "./doctor.ts";
import { listEvents } from "./events.ts";
import { examineLedger, ledgerBalances, ledgerPage } from "./ledger.ts";
import { listIntents, showIntent } from "./intents.ts";
import { rescan } from "./rescan.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./keys.ts";
import { disableOrigin, enableOrigin, listOrigins } from "./origins.ts";
import { addPageOrigin, listPageOrigins, removePageOrigin } from "./pageOrigins.ts";
import { watchStatus } from "./watch.ts";

// What an operator may do, by name. The same table serves a command that opens the world itself and one that asks the process
// that runs already.

type Operation = (world: World, input: unknown) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "accounts create": createAccount,
  "accounts list": listAccounts,
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
  "events list": listEvents,
  rescan,
  doctor: examine,
  "ledger check": examineLedger,
  "ledger page": ledgerPage,
  "ledger balances": ledgerBalances,
  "watch status": watchStatus,
};

export async function perform(world: World, operation: string, input: unknown): Promise<unknown> {
  const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  if (run === undefined)
    throw new CommandFailed(
      `The running process knows no operation ${JSON.stringify(operation)}: is it of another version?`,
    );
  return run(world, input);
}
