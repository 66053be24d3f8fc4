import { getIntent } from "../../intent/readIntents.ts";
import { settlementRecord } from "../../settlement/record.ts";
import { readPage } from "../body/query.ts";
import { listBody } from "../listBody.ts";
import type { Operation } from "../operation.ts";
import { readIntentPage } from "../reads/intentPage.ts";

export const listIntentSettlements: Operation = {
  operationId: "listIntentSettlements",
  method: "GET",
  path: "/api/v1/intents/{id}/settlements",
  perMinute: 120,
  async answer(world, { account, id, query }) {
    const page = readPage(query);
    const intent = await getIntent(world, { accountId: account.id, intentId: id });
    const { rows, hasMore, nextCursor } = await readIntentPage(world, {
      table: "settlement",
      intentId: intent.id,
      ...page,
    });
    return { status: 200, body: listBody({ records: rows.map(settlementRecord), hasMore, nextCursor }) };
  },
};
