import type { JsonSchema } from "./jsonSchema.ts";
import { deposit } from "./records/deposit.ts";
import { errorEnvelope } from "./records/error.ts";
import { listOf } from "./records/list.ts";
import { metadataLevels } from "./records/metadata.ts";
import { intentOrigins, recordedView, settleRail, sourceInbox, sourceOrigin, token } from "./records/origins.ts";
import { createdPaymentIntent, paymentIntent } from "./records/paymentIntent.ts";
import { settlement } from "./records/settlement.ts";

export const paymentIntentList = listOf(paymentIntent, "payment intents");
export const depositList = listOf(deposit, "deposits");
export const settlementList = listOf(settlement, "settlements");

/** The schemas that have a name of their own in the document, and with it in the client. */
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
  ErrorEnvelope: errorEnvelope,
  ...Object.fromEntries(
    metadataLevels.map((level, index) => [`MetadataLevel${metadataLevels.length + 1 - index}`, level]),
  ),
};

const NAMES = new Map<unknown, string>(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

/** The schema with references where named components stand in it, or as a whole. */
export function byReference(schema: JsonSchema): JsonSchema {
  const name = NAMES.get(schema);
  return name === undefined ? withReferences(schema) : { $ref: `#/components/schemas/${name}` };
}

/** The named components as the document has them. */
export function namedSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(COMPONENTS).map(([name, schema]) => [name, withReferences(schema)]));
}

// Schemas are trees that we wrote ourselves, so they are no deeper than their source.
function withReferences(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, referred(keyword, value)]));
}

const SCHEMAS = new Set(["additionalProperties", "propertyNames", "items", "not"]);
const LISTS = new Set(["oneOf", "allOf"]);

function referred(keyword: string, value: unknown): unknown {
  if (SCHEMAS.has(keyword) && typeof value === "object") return byReference(value as JsonSchema);
  if (LISTS.has(keyword)) return (value as readonly JsonSchema[]).map(byReference);
  if (keyword !== "properties") return value;
  const properties = Object.entries(value as Record<string, JsonSchema>);
  return Object.fromEntries(properties.map(([name, schema]) => [name, byReference(schema)]));
}
