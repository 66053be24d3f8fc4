import { listIntents } from "../../intent/readIntents.ts";
import { intentRecord } from "../../intent/record.ts";
import { readPage, readReferenceFilter } from "../body/query.ts";
import { listBody } from "../listBody.ts";
import type { Operation } from "../operation.ts";

export const listPaymentIntents: Operation = {
  operationId: "listPaymentIntents",
  method: "GET",
  path: "/api/v1/intents",
  perMinute: 60,
  async answer(world, { account, query }) {
    const page = { ...readPage(query), merchantReference: readReferenceFilter(query) };
    const { intents, hasMore, nextCursor } = await listIntents(world, { accountId: account.id, ...page });
    const records = intents.map((intent) => intentRecord(intent, world.config));
    return { status: 200, body: listBody({ records, hasMore, nextCursor }) };
  },
};
