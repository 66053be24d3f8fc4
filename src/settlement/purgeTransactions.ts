import { sql } from "kysely";
import type { Chain } from "../chain/chain.ts";
import { RETENTION_DEFAULT } from "../config/retention.ts";
import type { Tx } from "../db/database.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs, DAY_MS } from "../kernel/clock.ts";
import type { World } from "../world.ts";

/**
 * Deletes the signed bytes of up to `limit` transactions that closed before the retention, and returns their number. A
 * transaction keeps them while a settlement waits for it, and until its block was read a second time as final.
 */
export async function purgeTransactions(
  { db, clock, config }: Pick<World, "db" | "clock" | "config">,
  { caip2, sender }: Chain,
  limit: number,
): Promise<number> {
  const { transactionsDays } = config.retention ?? RETENTION_DEFAULT;
  const at = clock.now();
  return db.transaction(async (tx) => {
    const ids = await lockPurgeable(tx, { chain: caip2, before: addMs(at, -transactionsDays * DAY_MS), limit });
    if (ids.length > 0) await sender.deleteBytes(tx, { ids, at });
    return ids.length;
  });
}

async function lockPurgeable(tx: Tx, scope: { chain: Caip2; before: Date; limit: number }): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select outgoing.id from outgoing_transaction outgoing join chain_cursor on chain_cursor.chain = outgoing.chain
    where outgoing.chain = ${scope.chain} and outgoing.closed_at <= ${scope.before} and outgoing.purged_at is null
      and coalesce(outgoing.mined_block_number, 0) <= chain_cursor.reread_number
      and not exists (select from settlement
        where settlement.outgoing_id = outgoing.id and settlement.status not in ('landed', 'failed'))
    order by outgoing.closed_at limit ${scope.limit} for update of outgoing skip locked`.execute(tx);
  return rows.map(({ id }) => id);
}
