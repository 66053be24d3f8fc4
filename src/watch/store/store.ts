import { sql, type RawBuilder, type Selectable } from "kysely";
import type { BlockRef } from "../../chain/reader.ts";
import type { Db, Tx } from "../../db/database.ts";
import { array, type ElementType } from "../../db/parameters.ts";
import type { ChainCursorTable } from "../../db/schema.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow, LocatedTransfer } from "../movement.ts";

export type CursorRow = Selectable<ChainCursorTable>;
/** A block that we hold to be canonical. */
export type KnownBlock = { number: bigint; hash: string };

export async function findCursor(db: Db, chain: Caip2): Promise<CursorRow | undefined> {
  return db.root.selectFrom("chain_cursor").selectAll().where("chain", "=", chain).executeTakeFirst();
}

export async function listCursors(db: Db): Promise<CursorRow[]> {
  return db.root.selectFrom("chain_cursor").selectAll().execute();
}

export type NewCursor = {
  chain: Caip2;
  genesisHash: string;
  head: BlockRef;
  /** The blocks below it, the highest first. What they hold was never promised to be seen. */
  ancestors: readonly BlockRef[];
  at: Date;
};

/** Begins a chain at `head`; nothing happens when somebody else began it. */
export async function insertCursor(tx: Tx, { chain, genesisHash, head, ancestors, at }: NewCursor): Promise<void> {
  const { number, hash } = head;
  const inserted = await tx
    .insertInto("chain_cursor")
    .values({ chain, genesis_hash: genesisHash, number, hash, reread_number: number, updated_at: at })
    .onConflict((conflict) => conflict.column("chain").doNothing())
    .returning("chain")
    .execute();
  if (inserted.length === 0) return;
  const blocks = [head, ...ancestors].map((block) => ({
    chain,
    number: block.number,
    hash: block.hash,
    parent_hash: block.parentHash,
    orphaned_at: null,
  }));
  await tx.insertInto("block").values(blocks).execute();
}

export type CursorAdvance = {
  chain: Caip2;
  /** Where the cursor must still stand for this to happen. */
  from: KnownBlock;
  /** Where it goes. */
  to: KnownBlock;
  /** Canonical from now on. */
  blocks: readonly BlockRef[];
  located: readonly LocatedTransfer[];
  at: Date;
};

/** `hasChangedMovement`: a movement was known before. `writtenCount`: how many are new, or told otherwise now; fewer than were seen where one stays as it is. */
export type MovementWriteResult = { hasChangedMovement: boolean; writtenCount: number };

/** How far a chain is known, under the lock of its cursor, and the last block whose movements stand in the ledger. */
export type CursorState = {
  number: bigint;
  safeNumber: bigint;
  finalizedNumber: bigint;
  bookedNumber: bigint;
  revision: bigint;
};

const CURSOR_STATE = sql<CursorState>`number, safe_number as "safeNumber", finalized_number as "finalizedNumber", booked_number as "bookedNumber", revision`;

/**
 * Moves the cursor and writes what was found on the way, in one statement; undefined, with nothing changed, when the cursor is elsewhere
 * already. The row's lock is held until commit, so that revisions become visible in their order.
 */
export async function advanceCursor(
  db: Db["root"],
  advance: CursorAdvance,
): Promise<(CursorState & MovementWriteResult) | undefined> {
  const { chain, from, to, blocks, at } = advance;
  const { rows } = await sql<CursorState & MovementWriteResult>`/* named: advance_cursor */
    with claimed as (
      update chain_cursor set number = ${to.number}, hash = ${to.hash}, revision = revision + 1, updated_at = ${at}
      where chain = ${chain} and number = ${from.number} and hash = ${from.hash}
      returning ${CURSOR_STATE}, reread_number
    ), canonical as (
      insert into block (chain, number, hash, parent_hash)
      select ${chain}, known.number, known.hash, known.parent_hash
      from claimed, unnest(
        ${array(
          blocks.map((block) => block.number),
          "int8",
        )},
        ${array(
          blocks.map((block) => block.hash),
          "text",
        )},
        ${array(
          blocks.map((block) => block.parentHash),
          "text",
        )}
      ) as known (number, hash, parent_hash)
      on conflict (chain, hash) do update set orphaned_at = null
    ), written as (${upsertMovements({ ...advance, claimed: sql`claimed`, immutableUpTo: sql`(select reread_number from claimed)` })}, xmax <> 0 as is_retold)
    select claimed.*, exists (select from written where is_retold) as "hasChangedMovement",
      (select count(*)::int from written) as "writtenCount" from claimed`.execute(db);
  return rows[0];
}

/**
 * Says where the books stand now: at `to`, or at the last block up to which no more than `movementsMax` moved, which is at least the first in
 * which any did. Returns it, and whether anything moved between `from` and there.
 */
export async function advanceBooked(
  tx: Tx,
  { chain, from, to, movementsMax }: { chain: Caip2; from: bigint; to: bigint; movementsMax: number },
): Promise<{ bookedNumber: bigint; hasMovements: boolean }> {
  const { rows } = await sql<{ bookedNumber: bigint; hasMovements: boolean }>`/* named: raise_booked */
    with moved as (
      select block_number from movement
      where movement.chain = ${chain} and block_number > ${from} and block_number <= ${to} and orphaned_at is null
      order by block_number limit ${movementsMax + 1}::int8
    ), step as (
      select min(block_number) as first, max(block_number) as last, count(*) > ${movementsMax}::int8 as is_more from moved
    )
    update chain_cursor
    set booked_number = case when step.is_more then greatest(step.last - 1, step.first) else ${to}::int8 end
    from step where chain = ${chain}
    returning booked_number as "bookedNumber", step.first is not null as "hasMovements"`.execute(tx);
  return rows[0] ?? { bookedNumber: from, hasMovements: false };
}

/**
 * Takes back what lies above the last block that two branches share, and lets everything that was said of it sink to there. Returns the
 * revision under which movements were taken back; undefined, with nothing changed, when the cursor is not at `from` any more.
 */
export async function rewindCursor(
  tx: Tx,
  { chain, from, ancestorNumber, at }: { chain: Caip2; from: KnownBlock; ancestorNumber: bigint; at: Date },
): Promise<bigint | undefined> {
  const cursor = await tx
    .updateTable("chain_cursor")
    .set({
      safe_number: sql<bigint>`least(safe_number, ${ancestorNumber})`,
      finalized_number: sql<bigint>`least(finalized_number, ${ancestorNumber})`,
      reread_number: sql<bigint>`least(reread_number, ${ancestorNumber})`,
      booked_number: sql<bigint>`least(booked_number, ${ancestorNumber})`,
    })
    .where("chain", "=", chain)
    .where("number", "=", from.number)
    .where("hash", "=", from.hash)
    .returning("revision")
    .executeTakeFirst();
  if (!cursor) return undefined;
  // The revision is the next one: the cursor moves in the same transaction, and counts it up.
  const revision = cursor.revision + 1n;
  await orphanAbove(tx, { chain, ancestorNumber, revision, at });
  return revision;
}

async function orphanAbove(
  tx: Tx,
  { chain, ancestorNumber, revision, at }: { chain: Caip2; ancestorNumber: bigint; revision: bigint; at: Date },
): Promise<void> {
  await tx
    .updateTable("block")
    .set({ orphaned_at: at })
    .where("chain", "=", chain)
    .where("number", ">", ancestorNumber)
    .where("orphaned_at", "is", null)
    .execute();
  await tx
    .updateTable("movement")
    .set({ orphaned_at: at, revision })
    .where("chain", "=", chain)
    .where("block_number", ">", ancestorNumber)
    .where("orphaned_at", "is", null)
    .execute();
}

/** Takes the lock under which movements are written without moving the cursor, and returns their revision. */
export async function claimRevision(tx: Tx, chain: Caip2): Promise<CursorState | undefined> {
  const { rows } = await sql<CursorState>`
    update chain_cursor set revision = revision + 1 where chain = ${chain} returning ${CURSOR_STATE}`.execute(tx);
  return rows[0];
}

export type MovementWrite = {
  chain: Caip2;
  located: readonly LocatedTransfer[];
  revision: bigint;
  at: Date;
  /** What stands in blocks up to this one is not told otherwise; when left out, in those that have been read again. */
  immutableUpTo?: bigint | undefined;
};

/** Writes movements as they stand on the chain now, under a revision that the caller has claimed, and returns the rows that changed. */
export async function writeMovements(tx: Tx, writing: MovementWrite): Promise<MovementRow[]> {
  const { chain, located, revision, at } = writing;
  if (located.length === 0) return [];
  const claimed = sql`(select ${revision}::bigint as revision) as claimed`;
  const immutableUpTo =
    writing.immutableUpTo === undefined ? rereadNumber(chain) : sql`${writing.immutableUpTo}::bigint`;
  const written = await sql<MovementRow>`${upsertMovements({ chain, located, at, claimed, immutableUpTo })}`.execute(
    tx,
  );
  return written.rows;
}

/** Up to here blocks were read again after they had become final. */
export function rereadNumber(chain: Caip2): RawBuilder<unknown> {
  return sql`(select reread_number from chain_cursor where chain_cursor.chain = ${chain})`;
}

type MovementUpsert = {
  chain: Caip2;
  located: readonly LocatedTransfer[];
  at: Date;
  /** Something to select from that is named `claimed`, with one row that has the revision, or with none: then nothing is written. */
  claimed: RawBuilder<unknown>;
  /** The number of the block up to which what stands is not told otherwise. */
  immutableUpTo: RawBuilder<unknown>;
};

/**
 * One statement for all. Rows that say the same already are left alone, and so are those that stand in blocks that were agreed on: a new
 * block is one provider's word. The others carry the revision and are returned. What is no inbox of an intent writes nothing.
 */
function upsertMovements({ chain, located, at, claimed, immutableUpTo }: MovementUpsert): RawBuilder<unknown> {
  const column = <T extends string | number | bigint>(of: (one: LocatedTransfer) => T, type: ElementType) =>
    array(located.map(of), type);
  return sql`
    insert into movement (chain, chain_tx, identity, direction, intent_id, inbox, token, counterparty, amount_units,
      block_number, block_hash, place, revision, seen_at)
    select ${chain}, seen.chain_tx, seen.identity, seen.direction, inbox.intent_id, seen.inbox, seen.token, seen.counterparty,
      seen.amount_units, seen.block_number, seen.block_hash, seen.place, claimed.revision, ${at}::timestamptz
    from ${claimed}, unnest(
      ${column((one) => one.chainTx, "text")}, ${column((one) => one.identity, "text")},
      ${column((one) => one.direction, "text")}, ${column((one) => one.inbox, "text")},
      ${column((one) => one.token, "text")}, ${column((one) => one.counterparty, "text")},
      ${column((one) => one.amountUnits, "numeric")}, ${column((one) => one.blockNumber, "int8")},
      ${column((one) => one.blockHash, "text")}, ${column((one) => one.place, "int8")}
    ) as seen (chain_tx, identity, direction, inbox, token, counterparty, amount_units, block_number, block_hash, place)
    join inbox on inbox.address = seen.inbox and ${isInboxOnChain(chain)}
    order by seen.block_number, seen.place, seen.direction
    on conflict (chain, chain_tx, identity, direction, inbox, token) do update set
      counterparty = excluded.counterparty, amount_units = excluded.amount_units, block_number = excluded.block_number,
      block_hash = excluded.block_hash, place = excluded.place, revision = excluded.revision, orphaned_at = null
    where movement.orphaned_at is not null
      or (movement.counterparty, movement.amount_units, movement.block_hash, movement.place) is distinct from
        (excluded.counterparty, excluded.amount_units, excluded.block_hash, excluded.place)
      and movement.block_number > ${immutableUpTo}
    returning *`;
}

export async function orphanMovements(
  tx: Tx,
  { ids, revision, at }: { ids: readonly bigint[]; revision: bigint; at: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.updateTable("movement").set({ orphaned_at: at, revision }).where("id", "in", ids).execute();
}

/** Says that the chain answered and how final it is; nothing, when `cursor` was replaced. On a quick chain it has gone on from there by now. */
export async function storeFinality(
  tx: Tx,
  confirmed: { chain: Caip2; cursor: KnownBlock; safeNumber: bigint; finalizedNumber: bigint; at: Date },
): Promise<CursorState | undefined> {
  const { chain, cursor, safeNumber, finalizedNumber, at } = confirmed;
  // Under the lock of the cursor nothing is replaced, and a statement that begins after it was taken sees all that was.
  await sql`select from chain_cursor where chain = ${chain} for update`.execute(tx);
  const { rows } = await sql<CursorState>`
    update chain_cursor set safe_number = greatest(safe_number, ${safeNumber}),
      finalized_number = greatest(finalized_number, ${finalizedNumber}), updated_at = ${at}
    where chain = ${chain} and exists (
      select from block where block.chain = ${chain} and block.number = ${cursor.number} and block.hash = ${cursor.hash}
        and block.orphaned_at is null) returning ${CURSOR_STATE}`.execute(tx);
  return rows[0];
}

/** Moves the mark up to which blocks were read a second time; undefined when it, or the finality below it, has moved meanwhile. */
export async function advanceReread(
  tx: Tx,
  { chain, from, to }: { chain: Caip2; from: CursorRow; to: bigint },
): Promise<CursorState | undefined> {
  const { rows } = await sql<CursorState>`
    update chain_cursor set reread_number = ${to}, revision = revision + 1
    where chain = ${chain} and reread_number = ${from.reread_number} and finalized_number >= ${from.finalized_number}
      and number >= ${to} returning ${CURSOR_STATE}`.execute(tx);
  return rows[0];
}

/**
 * How far below the line blocks are looked at when it moves. What is older was looked at before, and stays because of its
 * movements; without this bound every final block would cost a look at all of them.
 */
const PRUNED_BLOCKS_MAX = 10_000n;

/** Forgets blocks below a number, but for those in which a movement stands. */
export async function pruneBlocks(tx: Tx, { chain, below }: { chain: Caip2; below: bigint }): Promise<void> {
  await tx
    .deleteFrom("block")
    .where("chain", "=", chain)
    .where("number", "<", below)
    .where("number", ">=", below - PRUNED_BLOCKS_MAX)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("movement")
            .select("movement.id")
            .whereRef("movement.chain", "=", "block.chain")
            .whereRef("movement.block_number", "=", "block.number")
            .whereRef("movement.block_hash", "=", "block.hash"),
        ),
      ),
    )
    .execute();
}

/** Canonical blocks we know at or below a number, the highest first. */
export async function listKnownBlocks(
  db: Db,
  { chain, upTo, limit }: { chain: Caip2; upTo: bigint; limit: number },
): Promise<KnownBlock[]> {
  return db.root
    .selectFrom("block")
    .select(["number", "hash"])
    .where("chain", "=", chain)
    .where("number", "<=", upTo)
    .where("orphaned_at", "is", null)
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
}

export async function listMovementsBetween(
  db: Db,
  { chain, fromBlock, toBlock }: { chain: Caip2; fromBlock: bigint; toBlock: bigint },
): Promise<MovementRow[]> {
  return db.root
    .selectFrom("movement")
    .selectAll()
    .where("chain", "=", chain)
    .where("block_number", ">=", fromBlock)
    .where("block_number", "<=", toBlock)
    .where("orphaned_at", "is", null)
    .execute();
}

/** Which hash our table holds at each of the numbers; a number that it does not hold is left out. */
export async function listHashesAt(
  tx: Tx,
  { chain, numbers }: { chain: Caip2; numbers: readonly bigint[] },
): Promise<KnownBlock[]> {
  if (numbers.length === 0) return [];
  return tx
    .selectFrom("block")
    .select(["number", "hash"])
    .where("chain", "=", chain)
    .where("number", "in", [...new Set(numbers)])
    .where("orphaned_at", "is", null)
    .execute();
}

/** Takes back one movement as it stands in one block; false when it stands there no more. */
export async function orphanMovementAt(
  tx: Tx,
  { id, blockHash, revision, at }: { id: bigint; blockHash: string; revision: bigint; at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("movement")
    .set({ orphaned_at: at, revision })
    .where("id", "=", id)
    .where("block_hash", "=", blockHash)
    .where("orphaned_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
