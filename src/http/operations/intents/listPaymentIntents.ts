import { listIntents } from "../../../intent/readIntents.ts";
import { intentRecord } from "../../../intent/intentRecord.ts";
import { parseInstant } from "../../../kernel/clock.ts";
import { invalidParam } from "../../schema/validationFault.ts";
import { toListResponse } from "../../listResponse.ts";
import { defineOperation } from "../../operation.ts";
import { paymentIntentList } from "../../schema/components.ts";
import { listedIntentExample, pageExample } from "../../schema/examples.ts";
import type { JsonSchema, Properties } from "../../schema/jsonSchema.ts";
import { pageQuery } from "../../schema/records/list.ts";
import { merchantReference } from "../../schema/requests/merchantReference.ts";

const timeFilter = {
  type: "string",
  maxLength: 40,
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)$",
  "x-must": "be a time such as 2026-11-21T09:30:00Z",
  examples: ["2026-11-21T09:30:00Z"],
} as const satisfies JsonSchema;

const query = {
  ...pageQuery,
  merchantReference: { ...merchantReference, description: "Only intents with exactly this reference." },
  status: { type: "string", enum: ["active", "settled", "archived"], description: "Only intents in this status." },
  paymentStatus: {
    type: "string",
    enum: ["unpaid", "partial", "paid", "overpaid"],
    description: "Only intents with this payment status.",
  },
  createdAfter: { ...timeFilter, description: "Only intents created after this time." },
  createdBefore: { ...timeFilter, description: "Only intents created before this time." },
} as const satisfies Properties;

export const listPaymentIntents = defineOperation({
  operationId: "listPaymentIntents",
  method: "GET",
  path: "/api/v1/intents",
  group: "Intents",
  summary: "List intents",
  description: `The account's intents, newest first, each in its current state. Pages stay stable while new intents are created.`,
  perMinute: 60,
  query,
  success: {
    status: 200,
    description: "A page of intents.",
    schema: paymentIntentList,
    example: pageExample(listedIntentExample),
  },
  faults: ["invalid_cursor"],
  async handle(world, { account, query: { createdAfter, createdBefore, ...filter } }) {
    const { intents, hasMore, nextCursor } = await listIntents(world, {
      accountId: account.id,
      ...filter,
      createdAfter: parseTimeFilter("createdAfter", createdAfter),
      createdBefore: parseTimeFilter("createdBefore", createdBefore),
    });
    const records = intents.map((intent) => intentRecord(intent, world.config));
    return { status: 200, body: toListResponse({ records, hasMore, nextCursor }) };
  },
});

/** Throws invalid_request for a date that does not exist. */
function parseTimeFilter(name: string, text: string | undefined): Date | undefined {
  const time = text === undefined ? undefined : parseInstant(text);
  if (text !== undefined && time === undefined) throw invalidParam(name, `must ${timeFilter["x-must"]}`);
  return time;
}
