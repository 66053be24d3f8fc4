import type { Selectable } from "kysely";
import type { Schema } from "../../db/schema.ts";
import { ensureDeployment } from "../../intent/deployment.ts";
import { decodeCursor, encodeCursor } from "../../kernel/cursor.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";

/** What an intent has a list of. Both tables count their rows in `seq`. */
type Listed = "deposit" | "settlement";
type PageOf<Table extends Listed> = { table: Table; intentId: string; limit: number; cursor: string | undefined };
type Rows<Table extends Listed> = { rows: Selectable<Schema[Table]>[]; hasMore: boolean; nextCursor: string };

/** A page of what belongs to one intent, newest first. Throws invalid_cursor for a cursor that this list did not give. */
export async function readIntentPage<Table extends Listed>(
  world: Pick<World, "db" | "entropy">,
  { table, intentId, limit, cursor }: PageOf<Table>,
): Promise<Rows<Table>> {
  const { signingSecret: secret } = await ensureDeployment(world.db, world.entropy);
  const context = { secret, list: table, owner: intentId };
  const belowSeq = cursor === undefined ? undefined : decodeCursor(cursor, context);
  if (cursor !== undefined && belowSeq === undefined) throw new Fault("invalid_cursor", { param: "cursor" });
  const found = await world.db.read
    .selectFrom(table as Listed)
    .selectAll()
    .where("intent_id", "=", intentId)
    .$if(belowSeq !== undefined, (select) => select.where("seq", "<", belowSeq ?? 0n))
    .orderBy("seq", "desc")
    .limit(limit + 1)
    .execute();
  const last = found[limit - 1];
  const hasMore = found.length > limit && last !== undefined;
  const rows = found.slice(0, limit) as Selectable<Schema[Table]>[];
  return { rows, hasMore, nextCursor: hasMore ? encodeCursor(last.seq, context) : "" };
}
