import type { Operation } from "./operation.ts";
import { archivePaymentIntent } from "./operations/intents/archivePaymentIntent.ts";
import { createIntentSourceInbox } from "./operations/intents/createIntentSourceInbox.ts";
import { createPaymentIntent } from "./operations/intents/createPaymentIntent.ts";
import { listEvents } from "./operations/events/listEvents.ts";
import { getEvent } from "./operations/events/getEvent.ts";
import { streamEvents } from "./operations/events/streamEvents.ts";
import { createWebhookEndpoint } from "./operations/webhooks/createWebhookEndpoint.ts";
import { listWebhookEndpoints } from "./operations/webhooks/listWebhookEndpoints.ts";
import { getWebhookEndpoint } from "./operations/webhooks/getWebhookEndpoint.ts";
import { updateWebhookEndpoint } from "./operations/webhooks/updateWebhookEndpoint.ts";
import { deleteWebhookEndpoint } from "./operations/webhooks/deleteWebhookEndpoint.ts";
import { rotateWebhookSecret } from "./operations/webhooks/rotateWebhookSecret.ts";
import { testWebhookEndpoint } from "./operations/webhooks/testWebhookEndpoint.ts";
import { listWebhookDeliveries } from "./operations/webhooks/listWebhookDeliveries.ts";
import { redeliverEvents } from "./operations/events/redeliverEvents.ts";
import { getAccount } from "./operations/account/getAccount.ts";
import { getPaymentIntent } from "./operations/intents/getPaymentIntent.ts";
import { listIntentDeposits } from "./operations/intents/listIntentDeposits.ts";
import { listIntentOrigins } from "./operations/intents/listIntentOrigins.ts";
import { listIntentSettlements } from "./operations/intents/listIntentSettlements.ts";
import { listAuditLog } from "./operations/account/listAuditLog.ts";
import { listPageOrigins } from "./operations/account/listPageOrigins.ts";
import { listPaymentIntents } from "./operations/intents/listPaymentIntents.ts";
import { recordIntentView } from "./operations/intents/recordIntentView.ts";
import { replacePageOrigins } from "./operations/account/replacePageOrigins.ts";
import { updateAccount } from "./operations/account/updateAccount.ts";

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
  listAuditLog,
];
