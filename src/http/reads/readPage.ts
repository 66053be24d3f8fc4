import { ensureDeployment } from "../../intent/deployment.ts";
import { decodeCursor, encodeCursor } from "../../kernel/cursor.ts";
import { Fault } from "../../kernel/faults.ts";
import type { World } from "../../world.ts";

type PageInput<Row> = {
  /** The list that the cursor belongs to, and whose list it is. */
  list: string;
  owner: string;
  limit: number;
  cursor: string | undefined;
  /** Reads rows below a position, highest first. */
  readRows: (page: { below: bigint | undefined; limit: number }) => Promise<Row[] | PartialRows<Row>>;
  positionOf: (row: Row) => bigint;
};
/** Rows of a read that is bounded: further rows may follow below `readTo` although these are fewer than a page. */
type PartialRows<Row> = { rows: Row[]; readTo: bigint | undefined };
type RowPage<Row> = { rows: Row[]; hasMore: boolean; nextCursor: string };

/** Reads a page of rows, newest first. Throws invalid_cursor for a cursor of another list. */
export async function readPage<Row>(
  world: Pick<World, "db" | "entropy" | "memory">,
  { list, owner, limit, cursor, readRows, positionOf }: PageInput<Row>,
): Promise<RowPage<Row>> {
  const { signingSecret: secret } = await ensureDeployment(world);
  const context = { secret, list, owner };
  const below = cursor === undefined ? undefined : decodeCursor(cursor, context);
  if (cursor !== undefined && below === undefined) throw new Fault("invalid_cursor", { param: "cursor" });
  const read = await readRows({ below, limit: limit + 1 });
  const { rows: rowsAndNext, readTo } = Array.isArray(read) ? { rows: read, readTo: undefined } : read;
  const last = rowsAndNext[limit - 1];
  const next = rowsAndNext.length > limit && last !== undefined ? positionOf(last) : readTo;
  return {
    rows: rowsAndNext.slice(0, limit),
    hasMore: next !== undefined,
    nextCursor: next === undefined ? "" : encodeCursor(next, context),
  };
}
