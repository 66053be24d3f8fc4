import { sql, type RawBuilder } from "kysely";
import { findChain, type Catalog } from "../catalog/catalog.ts";
import type { Finality } from "../config.ts";
import type { Tx } from "../db/database.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { book, reverse } from "../ledger/store.ts";
import { raiseBooked, type CursorRow, type Reach } from "./store.ts";

// From movements to postings. The books stand at one block of a chain: what moved up to there is in them, and nothing that moved
// later. Everything here is called under the lock of the chain's cursor, so that an inbox is booked by one transaction at a time.

/**
 * After hours in which nothing became final all of it does at once. So many movements are booked in a small part of the time that a statement
 * may take, also by a slow machine; their number is what that time grows with.
 */
const BOOKED_AT_ONCE_MAX = 5_000;

/** How many movements are booked in one transaction, where it is not as many as usual; a block is never divided. */
export type BookLimit = { bookedAtOnceMax?: number };
type BookWorld = { catalog: Catalog } & BookLimit;
type Heights = Pick<Reach, "number" | "safeNumber" | "finalizedNumber">;
export type Booking = { chain: Caip2; reach: Reach; at: Date };

/** The last block that counts by the chain's first tier: what is still likely to be replaced is not worth two postings. */
function baseBlock(finality: Finality, { number, safeNumber, finalizedNumber }: Heights): bigint {
  if ("confirmations" in finality) return number - BigInt(finality.confirmations) + 1n;
  return finality.tag === "safe" ? safeNumber : finalizedNumber;
}

/** The block at which the books can stand by now. */
function bookableBlock({ catalog }: BookWorld, chain: Caip2, heights: Heights): bigint {
  const finality = findChain(catalog, chain)?.finality[0]?.finality;
  return finality === undefined ? -1n : baseBlock(finality, heights);
}

/** Whether the books stand where they can; otherwise `bookReached` has something to do. */
export function isBooked(world: BookWorld, cursor: CursorRow): boolean {
  const { chain, number, safe_number: safeNumber, finalized_number: finalizedNumber } = cursor;
  return bookableBlock(world, chain, { number, safeNumber, finalizedNumber }) <= cursor.booked_number;
}

/**
 * Moves the books towards the block that the chain has reached by now, and books what moved on the way, in the chain's order: all of it, or as
 * much as one transaction may hold. Returns where the books stand then.
 */
export async function bookReached(tx: Tx, world: BookWorld, { chain, reach, at }: Booking): Promise<bigint> {
  const from = reach.bookedNumber;
  const to = bookableBlock(world, chain, reach);
  if (to <= from) return from;
  const movementsMax = world.bookedAtOnceMax ?? BOOKED_AT_ONCE_MAX;
  const { bookedNumber, isMoved } = await raiseBooked(tx, { chain, from, to, movementsMax });
  // Most blocks move nothing of ours, and the statement that books is a long one to plan.
  if (!isMoved) return bookedNumber;
  const reached = sql`movement.block_number > ${from} and movement.block_number <= ${bookedNumber}`;
  await book(tx, { transfers: transfersOf(chain, reached), name: "book_reached", at });
  return bookedNumber;
}

/**
 * Follows what a revision has changed below the block at which the books stand: what was taken back, or is told otherwise now, is reversed,
 * and what was found late is booked. Returns how many postings were reversed.
 */
export async function bookRevision(tx: Tx, { chain, reach, at }: Booking): Promise<number> {
  const reversed = await reverseRevision(tx, { chain, revision: reach.revision, at });
  const late = sql`movement.direction in ('in','out') and movement.revision = ${reach.revision}
    and movement.block_number <= ${reach.bookedNumber}`;
  await book(tx, { transfers: transfersOf(chain, late), name: "book_late", at });
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
  return reverse(tx, { references, at });
}

/**
 * Movements as the ledger takes them. Where the merchant's wallet receives the fee as well, all of it is the payout. What went to the hub
 * was netted with other inboxes, and left it again in the same transaction as payout and fee.
 */
function transfersOf(chain: Caip2, which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select 'movement:' || movement.id as reference, movement.revision as version, null::bigint as reverses,
      'inbox:' || movement.intent_id as custody,
      case when movement.direction = 'in' then 'payer:world'
        when movement.counterparty = intent.payout_wallet then 'payout:world'
        when movement.counterparty = intent.fee_recipient then 'fee:platform'
        when movement.counterparty = intent.inbox_hub then 'hub:' || movement.chain
        else 'suspense:' || movement.chain end as counter,
      movement.chain || case when movement.chain like 'eip155:%' then '/erc20:' else '/token:' end || movement.token as asset,
      case movement.direction when 'in' then movement.amount_units else -movement.amount_units end as change_units,
      movement.chain, movement.chain_tx, movement.block_number,
      row_number() over (order by movement.block_number, movement.log_index, movement.direction) as place
    from movement join intent on intent.id = movement.intent_id
    where movement.chain = ${chain} and movement.orphaned_at is null and movement.amount_units > 0 and ${which}`;
}
