import { archiveIntent } from "../../intent/archiveIntent.ts";
import { getIntent } from "../../intent/readIntents.ts";
import { intentRecord } from "../../intent/record.ts";
import { readFields } from "../body/fields.ts";
import type { Operation } from "../operation.ts";

export const archivePaymentIntent: Operation = {
  operationId: "archivePaymentIntent",
  method: "POST",
  path: "/api/v1/intents/{id}/archive",
  perMinute: 30,
  async answer(world, { account, id, body }) {
    readFields(body, []);
    const { id: intentId } = await getIntent(world, { accountId: account.id, intentId: id });
    const intent = await world.db.transaction((tx) => archiveIntent(tx, world, intentId));
    return { status: 200, body: intentRecord(intent, world.config) };
  },
};
