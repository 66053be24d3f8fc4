import type { JsonSchema } from "./jsonSchema.ts";
import { account, pageOriginList } from "./records/account.ts";
import { deposit } from "./records/deposit.ts";
import {
  auditEntry,
  event,
  eventList,
  webhookDelivery,
  webhookEndpoint,
  webhookEndpointList,
  webhookEndpointWithSecret,
} from "./records/event.ts";
import { errorDetail } from "./records/error.ts";
import { listSchema } from "./records/list.ts";
import { metadataLevels } from "./records/metadata.ts";
import { intentOrigins, recordedView, settleRail, sourceInbox, sourceOrigin, token } from "./records/origins.ts";
import { createdPaymentIntent, paymentIntent } from "./records/paymentIntent.ts";
import { settlement } from "./records/settlement.ts";
import { TYPED_EVENTS } from "./records/typedEvents.ts";

export const paymentIntentList = listSchema(paymentIntent, "payment intents");
export const depositList = listSchema(deposit, "deposits");
export const settlementList = listSchema(settlement, "settlements");
export const webhookDeliveryList = listSchema(webhookDelivery, "deliveries");
export const auditEntryList = listSchema(auditEntry, "entries of the audit log");

/** The schemas with names of their own, in the document and in the client. */
export const COMPONENTS: Readonly<Record<string, JsonSchema>> = {
  PaymentIntent: paymentIntent,
  CreatedPaymentIntent: createdPaymentIntent,
  PaymentIntentList: paymentIntentList,
  Deposit: deposit,
  DepositList: depositList,
  Settlement: settlement,
  SettlementList: settlementList,
  IntentOrigins: intentOrigins,
  SourceOrigin: sourceOrigin,
  SettleRail: settleRail,
  Token: token,
  SourceInbox: sourceInbox,
  RecordedView: recordedView,
  Event: event,
  EventList: eventList,
  ...TYPED_EVENTS,
  WebhookEndpoint: webhookEndpoint,
  WebhookEndpointWithSecret: webhookEndpointWithSecret,
  WebhookEndpointList: webhookEndpointList,
  WebhookDelivery: webhookDelivery,
  WebhookDeliveryList: webhookDeliveryList,
  AuditEntry: auditEntry,
  AuditEntryList: auditEntryList,
  Account: account,
  PageOriginList: pageOriginList,
  Error: errorDetail,
  ...Object.fromEntries(
    metadataLevels.map((level, index) => [`MetadataLevel${metadataLevels.length + 1 - index}`, level]),
  ),
};

const COMPONENT_NAMES = new Map<unknown, string>(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

/** Replaces named components in a schema with references. */
export function referenceComponents(schema: JsonSchema): JsonSchema {
  const name = COMPONENT_NAMES.get(schema);
  return name === undefined ? referenceNested(schema) : { $ref: `#/components/schemas/${name}` };
}

/** The named components, in the form of the document. */
export function componentSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(COMPONENTS).map(([name, schema]) => [name, referenceNested(schema)]));
}

// Recursion is safe: the schemas are our own constants.
function referenceNested(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, referenceKeyword(keyword, value)]),
  );
}

const SCHEMA_KEYWORDS = new Set(["additionalProperties", "propertyNames", "items", "not"]);
const SCHEMA_LIST_KEYWORDS = new Set(["oneOf", "allOf"]);

function referenceKeyword(keyword: string, value: unknown): unknown {
  if (SCHEMA_KEYWORDS.has(keyword) && typeof value === "object") return referenceComponents(value as JsonSchema);
  if (SCHEMA_LIST_KEYWORDS.has(keyword)) return (value as readonly JsonSchema[]).map(referenceComponents);
  if (keyword !== "properties") return value;
  const properties = Object.entries(value as Record<string, JsonSchema>);
  return Object.fromEntries(properties.map(([name, schema]) => [name, referenceComponents(schema)]));
}
