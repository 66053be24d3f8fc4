import { sql, type RawBuilder } from "kysely";
import { findWatchedChain, type Catalog } from "../../catalog/catalog.ts";
import type { Tx } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { assetSql } from "../../ledger/assetSql.ts";
import { postTransfers, reversePostings } from "../../ledger/store.ts";
import { lastFinalBlock, type BlockHeights } from "../finality.ts";
import { advanceBooked, type CursorRow, type CursorState } from "./store.ts";

// Turns movements into postings. The ledger is complete up to one block of a chain, and holds nothing above it. Callers hold the lock of
// the chain's cursor, so one transaction at a time books an inbox.

/**
 * After hours without finality, all blocks become final at once. A statement's time grows with its movements; this many take a small part
 * of the statement timeout, even on a slow machine.
 */
const BATCH_MOVEMENTS_MAX = 5_000;

/** Movements booked in one transaction, when not the default. A block is never split. */
export type BookingLimits = { batchMovementsMax?: number };
type BookWorld = { catalog: Catalog } & BookingLimits;
export type Booking = { chain: Caip2; cursor: CursorState; at: Date };

/**
 * The block up to which the ledger can be complete: the last one that is final in the chain's first tier. Blocks that may still be replaced
 * would cost two postings.
 */
function bookableBlock({ catalog }: BookWorld, chain: Caip2, heights: BlockHeights): bigint {
  const finality = findWatchedChain(catalog, chain)?.finality[0]?.finality;
  return finality === undefined ? -1n : lastFinalBlock(finality, heights);
}

/** Whether the ledger is complete up to the bookable block. Otherwise `bookMovements` has work. */
export function isBookingComplete(world: BookWorld, cursor: CursorRow): boolean {
  const { chain, number, safe_number: safeNumber, finalized_number: finalizedNumber } = cursor;
  return bookableBlock(world, chain, { number, safeNumber, finalizedNumber }) <= cursor.booked_number;
}

/** Books movements up to the bookable block in the chain's order, as many as one transaction may hold. Returns the booked block. */
export async function bookMovements(tx: Tx, world: BookWorld, { chain, cursor, at }: Booking): Promise<bigint> {
  const from = cursor.bookedNumber;
  const to = bookableBlock(world, chain, cursor);
  if (to <= from) return from;
  const movementsMax = world.batchMovementsMax ?? BATCH_MOVEMENTS_MAX;
  const { bookedNumber, hasMovements } = await advanceBooked(tx, { chain, from, to, movementsMax });
  // Most blocks hold no movements of ours, and the booking statement is expensive to plan.
  if (!hasMovements) return bookedNumber;
  const reached = sql`movement.block_number > ${from} and movement.block_number <= ${bookedNumber}`;
  await postTransfers(tx, { transfers: selectLedgerTransfers(chain, reached), name: "book_reached", at });
  return bookedNumber;
}

/**
 * Corrects the ledger below the booked block after a revision: reverses orphaned and changed movements, and books late ones. Returns the
 * number of reversed postings.
 */
export async function bookRevision(tx: Tx, { chain, cursor, at }: Booking): Promise<number> {
  const reversed = await reverseRevision(tx, { chain, revision: cursor.revision, at });
  const lateMovements = sql`movement.direction in ('in','out') and movement.revision = ${cursor.revision}
    and movement.block_number <= ${cursor.bookedNumber}`;
  await postTransfers(tx, { transfers: selectLedgerTransfers(chain, lateMovements), name: "book_late", at });
  return reversed;
}

/** Reverses the postings of movements that a revision changed. Returns their number. */
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
 * Movements in the form of ledger transfers. When the payout wallet is also the fee recipient, everything is payout. The hub nets several
 * inboxes, and pays payout and fee in the same transaction.
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
