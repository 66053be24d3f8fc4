import type { Operation } from "./operation.ts";
import { archivePaymentIntent } from "./operations/archivePaymentIntent.ts";
import { createIntentSourceInbox } from "./operations/createIntentSourceInbox.ts";
import { createPaymentIntent } from "./operations/createPaymentIntent.ts";
import { getAccount } from "./operations/getAccount.ts";
import { getPaymentIntent } from "./operations/getPaymentIntent.ts";
import { listIntentDeposits } from "./operations/listIntentDeposits.ts";
import { listIntentOrigins } from "./operations/listIntentOrigins.ts";
import { listIntentSettlements } from "./operations/listIntentSettlements.ts";
import { listPageOrigins } from "./operations/listPageOrigins.ts";
import { listPaymentIntents } from "./operations/listPaymentIntents.ts";
import { recordIntentView } from "./operations/recordIntentView.ts";
import { replacePageOrigins } from "./operations/replacePageOrigins.ts";
import { updateAccount } from "./operations/updateAccount.ts";

/** All operations, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  createPaymentIntent,
  getPaymentIntent,
  listPaymentIntents,
  archivePaymentIntent,
  listIntentOrigins,
  createIntentSourceInbox,
  recordIntentView,
  listIntentDeposits,
  listIntentSettlements,
  getAccount,
  updateAccount,
  listPageOrigins,
  replacePageOrigins,
];
