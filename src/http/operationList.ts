import type { Operation } from "./operation.ts";
import { archivePaymentIntent } from "./operations/archivePaymentIntent.ts";
import { createIntentSourceInbox } from "./operations/createIntentSourceInbox.ts";
import { createPaymentIntent } from "./operations/createPaymentIntent.ts";
import { listEvents } from "./operations/listEvents.ts";
import { getEvent } from "./operations/getEvent.ts";
import { streamEvents } from "./operations/streamEvents.ts";
import { createWebhookEndpoint } from "./operations/createWebhookEndpoint.ts";
import { listWebhookEndpoints } from "./operations/listWebhookEndpoints.ts";
import { getWebhookEndpoint } from "./operations/getWebhookEndpoint.ts";
import { updateWebhookEndpoint } from "./operations/updateWebhookEndpoint.ts";
import { deleteWebhookEndpoint } from "./operations/deleteWebhookEndpoint.ts";
import { rotateWebhookSecret } from "./operations/rotateWebhookSecret.ts";
import { testWebhookEndpoint } from "./operations/testWebhookEndpoint.ts";
import { listWebhookDeliveries } from "./operations/listWebhookDeliveries.ts";
import { redeliverEvents } from "./operations/redeliverEvents.ts";
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
  listEvents,
  streamEvents,
  getEvent,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  listWebhookDeliveries,
  redeliverEvents,
  getAccount,
  updateAccount,
  listPageOrigins,
  replacePageOrigins,
];
