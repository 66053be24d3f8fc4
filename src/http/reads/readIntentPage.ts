import type { Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { ensureDeployment } from "../../intent/deployment.ts";
import { decodeCursor, encodeCursor } from "../../kernel/cursor.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";

/** Tables with rows of one intent. Both number their rows in `seq`. */
type IntentListTable = "deposit" | "settlement";
type IntentPageQuery<Table extends IntentListTable> = {
  table: Table;
  intentId: string;
  limit: number;
  cursor: string | undefined;
};
type RowPage<Table extends IntentListTable> = {
  rows: Selectable<Schema[Table]>[];
  hasMore: boolean;
  nextCursor: string;
};

/** Reads a page of an intent's rows, newest first. Throws invalid_cursor for a cursor of another list. */
export async function readIntentPage<Table extends IntentListTable>(
  world: Pick<World, "db" | "entropy" | "memory">,
  { table, intentId, limit, cursor }: IntentPageQuery<Table>,
): Promise<RowPage<Table>> {
  const { signingSecret: secret } = await ensureDeployment(world);
  const context = { secret, list: table, owner: intentId };
  const belowSeq = cursor === undefined ? undefined : decodeCursor(cursor, context);
  if (cursor !== undefined && belowSeq === undefined) throw new Fault("invalid_cursor", { param: "cursor" });
  const rowsAndNext = await world.db.root
    .selectFrom(table as IntentListTable)
    .selectAll()
    .where("intent_id", "=", intentId)
    .$if(belowSeq !== undefined, (select) => select.where("seq", "<", belowSeq ?? 0n))
    .orderBy("seq", "desc")
    .limit(limit + 1)
    .execute();
  const last = rowsAndNext[limit - 1];
  const hasMore = rowsAndNext.length > limit && last !== undefined;
  const rows = rowsAndNext.slice(0, limit) as Selectable<Schema[Table]>[];
  return { rows, hasMore, nextCursor: hasMore ? encodeCursor(last.seq, context) : "" };
}
