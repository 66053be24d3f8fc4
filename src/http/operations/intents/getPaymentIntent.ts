import { getIntent } from "../../../intent/readIntents.ts";
import { intentRecordWithRoutes } from "../../../intent/intentRecord.ts";
import { findIntentRoutes } from "../../../intent/routes/findRoutes.ts";
import { defineOperation } from "../../operation.ts";
import { settledIntentExample } from "../../schema/examples.ts";
import { paymentIntent } from "../../schema/records/paymentIntent.ts";

export const getPaymentIntent = defineOperation({
  operationId: "getPaymentIntent",
  method: "GET",
  path: "/api/v1/intents/{id}",
  group: "Intents",
  summary: "Read one intent",
  description: `The intent in its current state. To follow one intent, poll this operation instead of the list; fulfil only intents that your own
backend has created.

Unknown ids and ids of other accounts get the same response.`,
  perMinute: 120,
  success: { status: 200, description: "The intent.", schema: paymentIntent, example: settledIntentExample },
  faults: [],
  async handle(world, { account, id }) {
    const intent = await getIntent(world, { accountId: account.id, intentId: id });
    const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, intent);
    return { status: 200, body: intentRecordWithRoutes(intent, routes, world.config) };
  },
});
