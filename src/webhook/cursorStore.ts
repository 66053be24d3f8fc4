import type { Tx } from "../db/database.ts";

/** The revision of counters up to which endpoints are marked. Locks it, so that one process moves it at a time. */
export async function readCursor(tx: Tx): Promise<bigint> {
  const row = await tx.selectFrom("webhook_cursor").select("counter_revision").forUpdate().executeTakeFirst();
  return row?.counter_revision ?? 0n;
}

export async function writeCursor(tx: Tx, revision: bigint): Promise<void> {
  await tx
    .insertInto("webhook_cursor")
    .values({ only_row: true, counter_revision: revision })
    .onConflict((conflict) => conflict.column("only_row").doUpdateSet({ counter_revision: revision }))
    .execute();
}
