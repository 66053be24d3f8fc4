import { findAsset } from "../../../catalog/catalog.ts";
import { depositRecord } from "../../../deposit/depositRecord.ts";
import { listDeposits } from "../../../deposit/listDeposits.ts";
import { getIntent } from "../../../intent/readIntents.ts";
import { listCursors } from "../../../watch/store/store.ts";
import { toListResponse } from "../../listResponse.ts";
import { CREATE_INTENTS, READ_INTENTS } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { depositList } from "../../schema/components.ts";
import { depositExample, pageExample } from "../../schema/examples.ts";
import { pageQuery } from "../../schema/records/list.ts";
import { readPage } from "../../reads/readPage.ts";

export const listIntentDeposits = defineOperation({
  operationId: "listIntentDeposits",
  method: "GET",
  path: "/api/v1/intents/{id}/deposits",
  group: "Deposits and settlements",
  summary: "List an intent's deposits",
  description:
    "The deposits of the intent, newest first, each with its status. A deposit is one transfer inside one transaction.",
  isExtension: true,
  scopes: [CREATE_INTENTS, READ_INTENTS],
  perMinute: 120,
  query: pageQuery,
  success: {
    status: 200,
    description: "A page of deposits.",
    schema: depositList,
    example: pageExample(depositExample),
  },
  faults: ["invalid_cursor"],
  async handle(world, { account, id, query }) {
    const intent = await getIntent(world, { accountId: account.id, intentId: id });
    const { rows, hasMore, nextCursor } = await readPage(world, {
      list: "listed_deposit",
      owner: intent.id,
      ...query,
      readRows: ({ below, limit }) => listDeposits(world, { intent, belowMovement: below, limit }),
      positionOf: (deposit) => deposit.movement_id,
    });
    const heads = new Map((await listCursors(world.db)).map((cursor) => [cursor.chain, cursor.number]));
    const records = rows.map((row) => {
      const symbol = findAsset(world.catalog, row.chain, row.token)?.symbol ?? row.token;
      return depositRecord(row, { symbol, headNumber: heads.get(row.chain) ?? row.block_number });
    });
    return { status: 200, body: toListResponse({ records, hasMore, nextCursor }) };
  },
});
