import type { Tx } from "../db/database.ts";
import type { ConsumerCursorTable } from "./handoverTables.ts";
import type { Caip2 } from "../kernel/caip.ts";

// How far a later station has processed a chain's movements. Each station has its own table; this file writes all of
// them.

export type CursorTableName = "deposit_cursor" | "settlement_cursor";

/** Locks a station's cursor, so that one worker at a time processes movements. */
export async function lockConsumerCursor(tx: Tx, table: CursorTableName, chain: Caip2): Promise<ConsumerCursorTable> {
  const select = tx.selectFrom(table).selectAll().where("chain", "=", chain).forUpdate();
  const cursor = await select.executeTakeFirst();
  if (cursor !== undefined) return cursor;
  await tx
    .insertInto(table)
    .values({ chain, revision: 0n, movement_id: 0n })
    .onConflict((conflict) => conflict.column("chain").doNothing())
    .execute();
  return select.executeTakeFirstOrThrow();
}

/** A station's cursor; zero when it has processed nothing. */
export async function findConsumerCursor(tx: Tx, table: CursorTableName, chain: Caip2): Promise<ConsumerCursorTable> {
  const cursor = await tx.selectFrom(table).selectAll().where("chain", "=", chain).executeTakeFirst();
  return cursor ?? { chain, revision: 0n, movement_id: 0n };
}

export async function advanceConsumerCursor(
  tx: Tx,
  table: CursorTableName,
  { chain, revision, movement_id }: ConsumerCursorTable,
): Promise<void> {
  await tx.updateTable(table).set({ revision, movement_id }).where("chain", "=", chain).execute();
}
