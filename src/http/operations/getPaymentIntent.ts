import { getIntent } from "../../intent/readIntents.ts";
import { intentRecord } from "../../intent/record.ts";
import type { Operation } from "../operation.ts";

export const getPaymentIntent: Operation = {
  operationId: "getPaymentIntent",
  method: "GET",
  path: "/api/v1/intents/{id}",
  perMinute: 120,
  async answer(world, { account, id }) {
    const intent = await getIntent(world, { accountId: account.id, intentId: id });
    return { status: 200, body: intentRecord(intent, world.config) };
  },
};
