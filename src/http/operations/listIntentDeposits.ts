import { findAsset } from "../../catalog/catalog.ts";
import { depositRecord } from "../../deposit/record.ts";
import { getIntent } from "../../intent/readIntents.ts";
import { listCursors } from "../../watch/store.ts";
import { readPage } from "../body/query.ts";
import { listBody } from "../listBody.ts";
import type { Operation } from "../operation.ts";
import { readIntentPage } from "../reads/intentPage.ts";

export const listIntentDeposits: Operation = {
  operationId: "listIntentDeposits",
  method: "GET",
  path: "/api/v1/intents/{id}/deposits",
  perMinute: 120,
  async answer(world, { account, id, query }) {
    const page = readPage(query);
    const intent = await getIntent(world, { accountId: account.id, intentId: id });
    const { rows, hasMore, nextCursor } = await readIntentPage(world, {
      table: "deposit",
      intentId: intent.id,
      ...page,
    });
    const heads = new Map((await listCursors(world.db)).map((cursor) => [cursor.chain, cursor.number]));
    const records = rows.map((row) => {
      const symbol = findAsset(world.catalog, row.chain, row.token)?.symbol ?? row.token;
      return depositRecord(row, { symbol, headNumber: heads.get(row.chain) ?? row.block_number });
    });
    return { status: 200, body: listBody({ records, hasMore, nextCursor }) };
  },
};
