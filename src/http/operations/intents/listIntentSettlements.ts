import { getIntent } from "../../../intent/readIntents.ts";
import { settlementRecord } from "../../../settlement/change/settlementRecord.ts";
import { listSettlements } from "../../../settlement/store.ts";
import { toListResponse } from "../../listResponse.ts";
import { CREATE_INTENTS, READ_INTENTS } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { settlementList } from "../../schema/components.ts";
import { settlementExample, pageExample } from "../../schema/examples.ts";
import { pageQuery } from "../../schema/records/list.ts";
import { readPage } from "../../reads/readPage.ts";

export const listIntentSettlements = defineOperation({
  operationId: "listIntentSettlements",
  method: "GET",
  path: "/api/v1/intents/{id}/settlements",
  group: "Deposits and settlements",
  summary: "List an intent's settlements",
  description: "The settlements that emptied the inboxes of this intent, newest first.",
  isExtension: true,
  scopes: [CREATE_INTENTS, READ_INTENTS],
  perMinute: 120,
  query: pageQuery,
  success: {
    status: 200,
    description: "A page of settlements.",
    schema: settlementList,
    example: pageExample(settlementExample),
  },
  faults: ["invalid_cursor"],
  async handle(world, { account, id, query }) {
    const intent = await getIntent(world, { accountId: account.id, intentId: id });
    const { rows, hasMore, nextCursor } = await readPage(world, {
      list: "settlement",
      owner: intent.id,
      ...query,
      readRows: ({ below, limit }) => listSettlements(world.db, { intentId: intent.id, belowSeq: below, limit }),
      positionOf: (settlement) => settlement.seq,
    });
    return { status: 200, body: toListResponse({ records: rows.map(settlementRecord), hasMore, nextCursor }) };
  },
});
