import { sql, type RawBuilder } from "kysely";
import { findWatchedChain, type Catalog } from "../../catalog/catalog.ts";
import type { Db, Tx } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { assetSql } from "../../ledger/assetSql.ts";
import { postTransfers, reversePostings } from "../../ledger/store.ts";
import { lastFinalBlock, type BlockHeights } from "../finality.ts";
import { listHeights, onlyChain } from "./chainReads.ts";
import { handedOver, inBlocksOf } from "./namedIndexes.ts";
import { advanceBooked, type CursorRow, type CursorState } from "./store.ts";

// Turns movements into postings. The ledger is complete up to one block of a chain, and holds nothing above it. Callers
// hold the lock of the chain's cursor, so one transaction at a time books an inbox. Movements of one transaction,
// inbox, token and counter account share a posting, because anybody can send thousands of tiny transfers in one
// transaction. Earlier versions booked each movement alone, as `movement:<id>`. Such a posting stays valid until its
// group changes.

/**
 * After hours without finality, all blocks become final at once. A statement's time grows with its movements; this many
 * take a small part of the statement timeout, even on a slow machine.
 */
const BATCH_MOVEMENTS_MAX = 5_000;

/** Movements booked in one transaction, when not the default. A block is never split. */
export type BookingLimits = { batchMovementsMax?: number };
type BookWorld = { catalog: Catalog } & BookingLimits;
export type Booking = { chain: Caip2; cursor: CursorState; at: Date };

/**
 * The block up to which the ledger can be complete: the last one that is final in the chain's first tier. Blocks that
 * may still be replaced would cost two postings.
 */
async function bookableBlock(
  db: Db["root"],
  { catalog }: BookWorld,
  { chain, heights }: { chain: Caip2; heights: BlockHeights },
): Promise<bigint> {
  const finality = findWatchedChain(catalog, chain)?.finality[0]?.finality;
  if (finality === undefined) return -1n;
  if (!("seconds" in finality)) return lastFinalBlock(finality, heights);
  const rules = [{ chain, seconds: [finality.seconds] }];
  const present = (await listHeights(db, rules, onlyChain(chain))).get(chain);
  return present === undefined ? -1n : lastFinalBlock(finality, present);
}

/** Whether the ledger is complete up to the bookable block. Otherwise `bookMovements` has work. */
export async function isBookingComplete(world: BookWorld & { db: Db }, cursor: CursorRow): Promise<boolean> {
  const { chain, number, safe_number: safeNumber, finalized_number: finalizedNumber } = cursor;
  const heights = { number, safeNumber, finalizedNumber };
  return (await bookableBlock(world.db.root, world, { chain, heights })) <= cursor.booked_number;
}

/**
 * Books movements up to the bookable block in the chain's order, as many as one transaction may hold. Returns the
 * booked block.
 */
export async function bookMovements(tx: Tx, world: BookWorld, { chain, cursor, at }: Booking): Promise<bigint> {
  const from = cursor.bookedNumber;
  const to = await bookableBlock(tx, world, { chain, heights: cursor });
  if (to <= from) return from;
  const movementsMax = world.batchMovementsMax ?? BATCH_MOVEMENTS_MAX;
  const { bookedNumber, hasMovements } = await advanceBooked(tx, { chain, from, to, movementsMax });
  // Most blocks hold no movements of ours, and the booking statement is expensive to plan.
  if (!hasMovements) return bookedNumber;
  const reached = sql`${inBlocksOf(chain)} and movement.block_number > ${from} and movement.block_number <= ${bookedNumber}`;
  if (await hasBookedTransaction(tx, { chain, reached, from }))
    await bookAgain(tx, { chain, changed: reached, bookedNumber, name: "book_reached_again", at });
  else {
    const movements = sql`select * from movement where ${reached}`;
    await postTransfers(tx, { transfers: selectLedgerTransfers(movements), name: "book_reached", at });
  }
  return bookedNumber;
}

/**
 * Whether a transaction with a reached movement also has one in a booked block. A transaction is in one block, but our
 * tables may have it in two after a false report.
 */
async function hasBookedTransaction(
  tx: Tx,
  { chain, reached, from }: { chain: Caip2; reached: RawBuilder<unknown>; from: bigint },
): Promise<boolean> {
  const { rows } = await sql<{ isFound: boolean }>`/* named: find_booked_transaction */
    select exists (
      select from (
        select distinct chain_tx from movement where ${reached} and orphaned_at is null) as reached
      cross join lateral (
        select from movement
        where chain = ${chain} and chain_tx = reached.chain_tx and block_number <= ${from} and orphaned_at is null limit 1
      ) as booked
    ) as "isFound"`.execute(tx);
  return rows[0]?.isFound === true;
}

/**
 * Corrects the ledger below the booked block after a revision: reverses the postings of orphaned, changed and late
 * movements, and books what remains of them again. Returns the number of reversed postings.
 */
export async function bookRevision(tx: Tx, { chain, cursor, at }: Booking): Promise<number> {
  const changed = sql`(${handedOver(chain, "in")} or ${handedOver(chain, "out")}) and movement.revision = ${cursor.revision}`;
  return bookAgain(tx, { chain, changed, bookedNumber: cursor.bookedNumber, name: "book_revision", at });
}

type Rebooking = {
  chain: Caip2;
  /** SQL that is true for a changed `movement`. */
  changed: RawBuilder<unknown>;
  bookedNumber: bigint;
  /** The name of the booking statement. */
  name: string;
  at: Date;
};

/**
 * Reverses every open posting of the groups with a changed movement, and books these groups anew. Returns the number of
 * reversals.
 */
async function bookAgain(tx: Tx, { chain, changed, bookedNumber, name, at }: Rebooking): Promise<number> {
  const members = selectMembers(chain, changed);
  const reversed = await reversePostings(tx, { references: selectReferences(members), at });
  const movements = sql`select * from (${members}) as member where is_changed and block_number <= ${bookedNumber}`;
  await postTransfers(tx, { transfers: selectLedgerTransfers(movements), name, at });
  return reversed;
}

/**
 * All movements of the transactions with a changed movement. `is_changed`: of a changed group, or of another group of
 * the same inbox, token and transaction. A revision may change the counter account, and a bridge's account stands in
 * the references of both directions, so reversing one group alone could reverse the other one too. The window function
 * replaces a join, whose plan could visit each pair of movements.
 */
function selectMembers(chain: Caip2, changed: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select movement.*, bool_or(${changed}) over (
      partition by movement.chain_tx, movement.intent_id, movement.token) as is_changed
    from (select distinct chain_tx from movement where ${changed}) as changed
    cross join lateral (
      select * from movement where movement.chain = ${chain} and movement.chain_tx = changed.chain_tx offset 0) as movement`;
}

/**
 * The references that postings of these members can have: their own in the earlier form, and their group's for each
 * counter account.
 */
function selectReferences(members: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    with member as (select * from (${members}) as member where is_changed)
    select 'movement:' || id from member
    union
    select ${TRANSFERS_REFERENCE}
    from (select distinct chain, chain_tx, intent_id, token, direction from member) as changed
    cross join lateral unnest(case direction when 'in' then array['payer:world', 'suspense:' || chain, ${BRIDGE_ACCOUNT}, ${BRIDGE_FEE_ACCOUNT}]
      else array['payout:world', 'fee:platform', 'hub:' || chain, 'suspense:' || chain, ${BRIDGE_ACCOUNT}] end) as counter`;
}

/**
 * The reference of a group's postings, from columns of these names. Its parts never change, so the database refuses a
 * second open posting. The counter account implies the direction: a bridge takes from an inbox on other chains than the
 * one where it gives. Only the suspense account is at both ends. To list the movements of a posting, filter `movement`
 * by the same parts.
 */
export const TRANSFERS_REFERENCE = sql<string>`'transfers:' || chain || '/' || chain_tx || '/' || intent_id || '/' || token || '/' || counter
  || case when direction = 'in' and counter like 'suspense:%' then '/in' else '' end`;

/**
 * The fee in a transfer that the hub netted. When the payout wallet is also the fee recipient, everything is payout.
 */
const NETTED_FEE = sql`
  case when intent.payout_wallet = intent.fee_recipient then 0 else coalesce(movement.fee_units, 0) end`;

/** What bridges carry, in the assets of all of its chains together. */
const BRIDGE_ACCOUNT = sql`'bridge:cctp-v2'`;
const BRIDGE_FEE_ACCOUNT = sql`'fee:bridge'`;

/** What a bridge kept of a mint. While the burn is not known, what it took is not either. */
const BRIDGE_FEE_UNITS = sql`case when movement.in_suspense then 0 else coalesce(movement.bridge_fee_units, 0) end`;

/**
 * The counter accounts of `movement` with their units; negative units go the other way. The hub pays netted money on in
 * the same transaction, so it is booked to payout and fee. Money stays on the hub's account only where the chain shows
 * no payment. A bridge gives what it took elsewhere, less its fee.
 */
export const LEDGER_LINES = sql`
  (values (case
      when movement.in_suspense then 'suspense:' || movement.chain
      when movement.explained_by is not null then ${BRIDGE_ACCOUNT}
      when movement.direction = 'in' then 'payer:world'
      when movement.counterparty = intent.payout_wallet then 'payout:world'
      when movement.counterparty = intent.fee_recipient then 'fee:platform'
      when movement.counterparty <> intent.inbox_hub then 'suspense:' || movement.chain
      when movement.fee_units is null then 'hub:' || movement.chain
      else 'payout:world' end, movement.amount_units - ${NETTED_FEE} + ${BRIDGE_FEE_UNITS}),
    ('fee:platform', ${NETTED_FEE}),
    (${BRIDGE_FEE_ACCOUNT}, -${BRIDGE_FEE_UNITS}))`;

/**
 * Movements in the form of ledger transfers, a row for each group.
 *
 * Transactions keep the chain's order. Within one, what arrives comes before what leaves: the balances after the
 * transaction do not depend on the order of its postings, and an inbox that the chain let pay is then not short in
 * between.
 *
 * The version counts the bookings of a group. A revision does not, because what remains of a group may have no new one.
 */
function selectLedgerTransfers(movements: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select reference, 1 + coalesce((
        select max(version) from ledger_posting earlier where earlier.reference = grouped.reference), 0) as version,
      null::bigint as reverses, custody, counter, asset, change_units, chain, chain_tx, block_number,
      row_number() over (order by block_number, tx_place, direction, first_place, change_units desc) as place
    from (
      select ${TRANSFERS_REFERENCE} as reference, 'inbox:' || intent_id as custody, counter,
        ${assetSql(sql`chain`, sql`token`)} as asset,
        sum(case direction when 'in' then units else -units end) as change_units,
        chain, chain_tx, max(block_number) as block_number, direction,
        min(place) as first_place, min(min(place)) over (partition by chain_tx) as tx_place
      from (
        select movement.*, line.counter, line.units
        from (${movements}) as movement join intent on intent.id = movement.intent_id
        cross join lateral ${LEDGER_LINES} as line (counter, units)
        where movement.orphaned_at is null and line.units <> 0
      ) as member
      group by chain, chain_tx, intent_id, token, direction, counter
    ) as grouped`;
}
