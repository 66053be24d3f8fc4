import { listIntents } from "../../intent/readIntents.ts";
import { intentRecord } from "../../intent/intentRecord.ts";
import { toListResponse } from "../listResponse.ts";
import { defineOperation } from "../operation.ts";
import { paymentIntentList } from "../schema/components.ts";
import { pageExample, settledIntentExample } from "../schema/examples.ts";
import type { Properties } from "../schema/jsonSchema.ts";
import { pageQuery } from "../schema/records/list.ts";
import { merchantReference } from "../schema/requests/merchantReference.ts";

const query = {
  ...pageQuery,
  merchantReference: { ...merchantReference, description: "Only intents with exactly this reference." },
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
    example: pageExample(settledIntentExample),
  },
  faults: ["invalid_cursor"],
  async handle(world, { account, query: { limit, cursor, merchantReference: reference } }) {
    const { intents, hasMore, nextCursor } = await listIntents(world, {
      accountId: account.id,
      limit,
      cursor,
      merchantReference: reference,
    });
    const records = intents.map((intent) => intentRecord(intent, world.config));
    return { status: 200, body: toListResponse({ records, hasMore, nextCursor }) };
  },
});
