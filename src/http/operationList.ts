import type { Operation } from "./operation.ts";
import { archivePaymentIntent } from "./operations/archivePaymentIntent.ts";
import { createIntentSourceInbox } from "./operations/createIntentSourceInbox.ts";
import { createPaymentIntent } from "./operations/createPaymentIntent.ts";
import { getPaymentIntent } from "./operations/getPaymentIntent.ts";
import { listIntentDeposits } from "./operations/listIntentDeposits.ts";
import { listIntentOrigins } from "./operations/listIntentOrigins.ts";
import { listIntentSettlements } from "./operations/listIntentSettlements.ts";
import { listPaymentIntents } from "./operations/listPaymentIntents.ts";
import { recordIntentView } from "./operations/recordIntentView.ts";

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
];
