import { sql } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { Crossing } from "../store.ts";

/** A landed burn whose message may still lock rent. */
export type RentBurn = Pick<Crossing, "movement_id" | "intent_id" | "chain_tx" | "created_at"> & {
  message: string;
  attestation: string;
};

/** Circle's program on Solana keeps the rent of a burn's message for five days. */
const LOCKED_HOURS = 121;

/** Notes the burns among landed crossings that lock rent. A known one stays as it is. */
export async function noteRents(tx: Tx, movementIds: readonly bigint[]): Promise<void> {
  if (movementIds.length === 0) return;
  await sql`
    insert into burn_rent (movement_id, chain, reclaim_at)
    select movement_id, chain, created_at + ${LOCKED_HOURS}::int8 * interval '1 hour' from crossing
    where movement_id = any(${array(movementIds, "int8")}) and chain like 'solana:%'
    on conflict do nothing`.execute(tx);
}

/** Takes burns whose rent may return now, so that no other process asks for it until `claimedUntil`. */
export async function claimRents(
  db: Db,
  { chain, at, claimedUntil, limit }: { chain: Caip2; at: Date; claimedUntil: Date; limit: number },
): Promise<RentBurn[]> {
  const { rows } = await sql<RentBurn>`/* named: claim_rents */
    update burn_rent set reclaim_at = ${claimedUntil} from crossing
    where burn_rent.movement_id in (
        select movement_id from burn_rent
        where chain = ${chain} and reclaim_at <= ${at} order by reclaim_at limit ${limit} for update skip locked)
      and crossing.movement_id = burn_rent.movement_id and crossing.message is not null and crossing.attestation is not null
    returning crossing.movement_id, crossing.intent_id, crossing.chain_tx, crossing.created_at, crossing.message, crossing.attestation`.execute(
    db.root,
  );
  return rows;
}

/** Forgets a burn that locks nothing any more. */
export async function deleteRent(db: Db, movementId: bigint): Promise<void> {
  await db.root.deleteFrom("burn_rent").where("movement_id", "=", movementId).execute();
}
