import { arrivalsById, NEWEST_ARRIVALS_FIRST } from "../watch/store/namedIndexes.ts";
import { sql, type Selectable } from "kysely";
import { findAsset, findWatchedChain, type Catalog } from "../catalog/catalog.ts";
import type { Db } from "../db/database.ts";
import type { ListedDepositView } from "./depositTables.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import type { IntentRow } from "../intent/store.ts";
import type { ShownDeposit } from "./deposit.ts";
import { depositId } from "./depositId.ts";
import { requiredConfirmations, requiredSeconds } from "./finality.ts";

/** A deposit of a list, with the number of its movement: a list is in the order of movements. */
export type ListedDeposit = ShownDeposit & { movement_id: bigint };

type ListedRow = Selectable<ListedDepositView>;

/** Above every id of a row. */
const ID_MAX = 2n ** 63n - 1n;

/**
 * A page of an intent's deposits with its dust, newest first, from below a movement on. Reads in proportion to `limit`.
 */
export async function listDeposits(
  world: { db: Db; catalog: Catalog },
  { intent, belowMovement, limit }: { intent: IntentRow; belowMovement?: bigint | undefined; limit: number },
): Promise<ListedDeposit[]> {
  // A look-up for each row: with a join the planner may walk whole tables in the order of their keys, or read every
  // movement of the inbox and sort them. Under an "or" it turns no look-up into a join.
  const { rows } = await sql<ListedRow>`
    with page as materialized (
      select movement.id from movement
      where ${arrivalsById(intent.id)}
        and movement.id < ${belowMovement ?? ID_MAX}
        and (movement.explained_by is null and exists (select from deposit_cursor taken
            where taken.chain = movement.chain and (movement.revision, movement.id) <= (taken.revision, taken.movement_id))
          or (select deposit.id from deposit where deposit.movement_id = movement.id) is not null)
      order by ${NEWEST_ARRIVALS_FIRST} limit ${limit}
    )
    select listed.* from page cross join lateral (
      select * from listed_deposit where listed_deposit.movement_id = page.id offset 0
    ) as listed order by page.id desc`.execute(world.db.root);
  return rows.map((row) => ({ ...dustDeposit(world.catalog, { intent, row }), movement_id: row.movement_id }));
}

/**
 * Completes a row that may be dust: its id, its decimals and the confirmations that it needs follow from the movement
 * and the catalogue.
 */
export function dustDeposit(
  catalog: Catalog,
  { intent, row }: { intent: IntentRow; row: Omit<ListedRow, "movement_id"> },
): ShownDeposit {
  const { id, token_decimals: decimals, late: wasLate } = row;
  if (id !== null && decimals !== null && wasLate !== null)
    return { ...row, id, token_decimals: decimals, late: wasLate };
  const { intent_id, chain, token, token_decimals, sender, amount_units, counted_units, status, reason } = row;
  const { chain_tx, identity, block_number, block_hash, settlement_id, seen_at, counted_at } = row;
  const endedAt = intent.settled_at ?? intent.archived_at;
  const payoutDecimals = isPayoutAsset(intent, row) ? intent.payout_decimals : undefined;
  // Dust is final by the chain's strictest rule.
  const strictest = findWatchedChain(catalog, chain)?.finality.at(-1)?.finality;
  return {
    id: depositId(row),
    intent_id,
    chain,
    token,
    token_decimals: token_decimals ?? payoutDecimals ?? findAsset(catalog, chain, token)?.decimals ?? 0,
    sender,
    amount_units,
    counted_units,
    status,
    reason,
    late: endedAt !== null && seen_at >= endedAt,
    chain_tx,
    identity,
    block_number,
    block_hash,
    required_confirmations: requiredConfirmations(strictest),
    required_seconds: requiredSeconds(strictest),
    settlement_id,
    seen_at,
    counted_at,
  };
}
