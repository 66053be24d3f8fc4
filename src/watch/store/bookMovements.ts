import { sql, type RawBuilder } from "kysely";
import { findWatchedChain, type Catalog } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { assetSql } from "../../ledger/assetSql.ts";
import { postTransfers, reversePostings } from "../../ledger/store.ts";
import { lastFinalBlock, type BlockHeights } from "../finality.ts";
import { advanceBooked, type CursorRow, type CursorState } from "./store.ts";

// From movements to postings. The books stand at one block of a chain: what moved up to there is in them, and nothing that moved
// later. Everything here is called under the lock of the chain's cursor, so that an inbox is booked by one transaction at a time.

/**
 * After hours in which nothing became final all of it does at once. So many movements are booked in a small part of the time that a statement
 * may take, also by a slow machine; their number is what that time grows with.
 */
const BATCH_MOVEMENTS_MAX = 5_000;

/** How many movements are booked in one transaction, where it is not as many as usual; a block is never divided. */
export type BookingLimits = { batchMovementsMax?: number };
type BookWorld = { catalog: Catalog } & BookingLimits;
export type Booking = { chain: Caip2; cursor: CursorState; at: Date };

/**
 * The block at which the books can stand by now: the last that counts by the chain's first tier. What is still likely to be replaced is not
 * worth two postings.
 */
function bookableBlock({ catalog }: BookWorld, chain: Caip2, heights: BlockHeights): bigint {
  const finality = findWatchedChain(catalog, chain)?.finality[0]?.finality;
  return finality === undefined ? -1n : lastFinalBlock(finality, heights);
}

/** Whether the books stand where they can; otherwise `bookMovements` has something to do. */
export function isBookingComplete(world: BookWorld, cursor: CursorRow): boolean {
  const { chain, number, safe_number: safeNumber, finalized_number: finalizedNumber } = cursor;
  return bookableBlock(world, chain, { number, safeNumber, finalizedNumber }) <= cursor.booked_number;
}

/**
 * Moves the books towards the block that the chain has reached by now, and books what moved on the way, in the chain's order: all of it, or as
 * much as one transaction may hold. Returns where the books stand then.
 */
export async function bookMovements(tx: Tx, world: BookWorld, { chain, cursor, at }: Booking): Promise<bigint> {
  const from = cursor.bookedNumber;
  const to = bookableBlock(world, chain, cursor);
  if (to <= from) return from;
  const movementsMax = world.batchMovementsMax ?? BATCH_MOVEMENTS_MAX;
  const { bookedNumber, hasMovements } = await advanceBooked(tx, { chain, from, to, movementsMax });
  // Most blocks move nothing of ours, and the statement that books is a long one to plan.
  if (!hasMovements) return bookedNumber;
  const reached = sql`movement.block_number > ${from} and movement.block_number <= ${bookedNumber}`;
  await postTransfers(tx, { transfers: selectLedgerTransfers(chain, reached), name: "book_reached", at });
  return bookedNumber;
}

/**
 * Follows what a revision has changed below the block at which the books stand: what was taken back, or is told otherwise now, is reversed,
 * and what was found late is booked. Returns how many postings were reversed.
 */
export async function bookRevision(tx: Tx, { chain, cursor, at }: Booking): Promise<number> {
  const reversed = await reverseRevision(tx, { chain, revision: cursor.revision, at });
  const lateMovements = sql`movement.direction in ('in','out') and movement.revision = ${cursor.revision}
    and movement.block_number <= ${cursor.bookedNumber}`;
  await postTransfers(tx, { transfers: selectLedgerTransfers(chain, lateMovements), name: "book_late", at });
  return reversed;
}

/** Takes back what stands in the books of movements that a revision has changed. Returns how many postings that were. */
export async function reverseRevision(
  tx: Tx,
  { chain, revision, at }: { chain: Caip2; revision: bigint; at: Date },
): Promise<number> {
  const references = sql`
    select 'movement:' || id from movement
    where chain = ${chain} and direction in ('in','out') and revision = ${revision}`;
  return reversePostings(tx, { references, at });
}

/**
 * Movements as the ledger takes them. Where the merchant's wallet receives the fee as well, all of it is the payout. What went to the hub
 * was netted with other inboxes, and left it again in the same transaction as payout and fee.
 */
function selectLedgerTransfers(chain: Caip2, which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select 'movement:' || movement.id as reference, movement.revision as version, null::bigint as reverses,
      'inbox:' || movement.intent_id as custody,
      case when movement.direction = 'in' then 'payer:world'
        when movement.counterparty = intent.payout_wallet then 'payout:world'
        when movement.counterparty = intent.fee_recipient then 'fee:platform'
        when movement.counterparty = intent.inbox_hub then 'hub:' || movement.chain
        else 'suspense:' || movement.chain end as counter,
      ${assetSql(sql`movement.chain`, sql`movement.token`)} as asset,
      case movement.direction when 'in' then movement.amount_units else -movement.amount_units end as change_units,
      movement.chain, movement.chain_tx, movement.block_number,
      row_number() over (order by movement.block_number, movement.place, movement.direction) as place
    from movement join intent on intent.id = movement.intent_id
    where movement.chain = ${chain} and movement.orphaned_at is null and movement.amount_units > 0 and ${which}`;
}
