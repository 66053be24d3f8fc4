import { sql, type RawBuilder, type Selectable } from "kysely";
import type { BlockRef } from "../../chain/reader.ts";
import type { Db, Tx } from "../../db/database.ts";
import { array, unnest, type ElementType } from "../../db/parameters.ts";
import type { ChainCursorTable } from "../watchTables.ts";
import { isInboxOnChain } from "../../intent/inboxStore.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import type { MovementRow, LocatedTransfer } from "../movement.ts";
import { inBlocksOf } from "./namedIndexes.ts";
import { BATCH_COLUMN_NAMES, batchColumns, joinBatch } from "./batchFee.ts";

export type CursorRow = Selectable<ChainCursorTable>;
/** A canonical block in our tables. */
export type KnownBlock = { number: bigint; hash: string };

export async function findCursor(db: Db, chain: Caip2): Promise<CursorRow | undefined> {
  return db.root.selectFrom("chain_cursor").selectAll().where("chain", "=", chain).executeTakeFirst();
}

export async function listCursors(db: Db): Promise<CursorRow[]> {
  return db.root.selectFrom("chain_cursor").selectAll().execute();
}

export type NewCursor = {
  chain: Caip2;
  /** Null where every provider has pruned the first block. */
  genesisHash: string | null;
  head: BlockRef;
  /** The blocks below it, highest first. Their transfers are outside the watch guarantee. */
  ancestors: readonly BlockRef[];
  at: Date;
};

/** Starts a chain at `head`. Does nothing when another process started it. */
export async function insertCursor(tx: Tx, { chain, genesisHash, head, ancestors, at }: NewCursor): Promise<void> {
  const { number, hash } = head;
  const inserted = await tx
    .insertInto("chain_cursor")
    .values({ chain, genesis_hash: genesisHash, number, hash, reread_number: number, updated_at: at })
    .onConflict((conflict) => conflict.column("chain").doNothing())
    .returning("chain")
    .execute();
  if (inserted.length === 0) return;
  const blocks = [head, ...ancestors].map((block) => ({ chain, ...toBlockRow(block), orphaned_at: null }));
  await tx.insertInto("block").values(blocks).execute();
}

const KNOWN_COLUMNS = { number: "int8", hash: "text", parent_hash: "text", timestamp_s: "int8" } as const;

function toBlockRow({ number, hash, parentHash, timestampS }: BlockRef): {
  number: bigint;
  hash: string;
  parent_hash: string;
  timestamp_s: bigint | null;
} {
  return { number, hash, parent_hash: parentHash, timestamp_s: timestampS === undefined ? null : BigInt(timestampS) };
}

export type CursorAdvance = {
  chain: Caip2;
  /** The cursor position that this advance requires. */
  from: KnownBlock;
  /** The new cursor position. */
  to: KnownBlock;
  /** The blocks that become canonical. */
  blocks: readonly BlockRef[];
  located: readonly LocatedTransfer[];
  at: Date;
};

/**
 * `hasChangedMovement`: a known movement changed. `writtenCount`: new or changed movements; lower than the number
 * located where a movement stays unchanged.
 */
type Suspense = { in_suspense: boolean; revision: bigint };

/** Puts mints in suspense, or takes them out, under a revision that the caller claimed. */
export async function writeSuspense(tx: Tx, mintIds: readonly bigint[], suspense: Suspense): Promise<void> {
  await tx.updateTable("movement").set(suspense).where("id", "in", mintIds).execute();
}

export type MovementWriteResult = { hasChangedMovement: boolean; writtenCount: number };

/** The block heights of a chain, read under the cursor's lock, and the last booked block. */
export type CursorState = {
  number: bigint;
  safeNumber: bigint;
  finalizedNumber: bigint;
  bookedNumber: bigint;
  revision: bigint;
};

const CURSOR_STATE = sql<CursorState>`number, safe_number as "safeNumber", finalized_number as "finalizedNumber", booked_number as "bookedNumber", revision`;

/**
 * Moves the cursor and writes the blocks and movements up to it, in one statement. Returns undefined and changes
 * nothing when the cursor is elsewhere. The row lock lasts until commit, so revisions become visible in order.
 */
export async function advanceCursor(
  tx: Tx,
  advance: CursorAdvance,
): Promise<(CursorState & MovementWriteResult) | undefined> {
  return executeAdvance(tx, advance, { name: "advance_cursor", condition: sql`true` });
}

/**
 * Same as advanceCursor, where no movement of the located transactions is recorded. Such an advance changes no
 * movement, so it needs no correction of the ledger and no transaction around it. Returns undefined and changes nothing
 * in all other cases. The comparison of the revision fails when another process has written since this statement began.
 */
export async function advanceCursorWithNew(
  db: Db["root"],
  advance: CursorAdvance,
): Promise<(CursorState & MovementWriteResult) | undefined> {
  const chainTxs = [...new Set(advance.located.map(({ chainTx }) => chainTx))];
  const condition = sql`revision = (select revision from chain_cursor as read where read.chain = ${advance.chain})
    and not exists (select from unnest(${array(chainTxs, "text")}) as located (chain_tx) cross join lateral (
      select from movement where movement.chain = ${advance.chain} and movement.chain_tx = located.chain_tx limit 1) as recorded)`;
  return executeAdvance(db, advance, { name: "advance_cursor_with_new", condition });
}

async function executeAdvance(
  db: Db["root"],
  advance: CursorAdvance,
  { name, condition }: { name: string; condition: RawBuilder<unknown> },
): Promise<(CursorState & MovementWriteResult) | undefined> {
  const { chain, from, to, blocks, at } = advance;
  const { rows } = await sql<CursorState & MovementWriteResult>`/* named: ${sql.raw(name)} */
    with claimed as (
      update chain_cursor set number = ${to.number}, hash = ${to.hash}, revision = revision + 1, updated_at = ${at}
      where chain = ${chain} and number = ${from.number} and hash = ${from.hash} and ${condition}
      returning ${CURSOR_STATE}, reread_number
    ), canonical as (
      insert into block (chain, number, hash, parent_hash, timestamp_s)
      select ${chain}, known.number, known.hash, known.parent_hash, known.timestamp_s
      from claimed, ${unnest("known", blocks.map(toBlockRow), KNOWN_COLUMNS)}
      on conflict (chain, hash) do update set orphaned_at = null, timestamp_s = excluded.timestamp_s
    ), written as (${upsertMovements({ ...advance, claimed: sql`claimed`, immutableUpTo: sql`(select reread_number from claimed)` })}, xmax <> 0 as is_update)
    select claimed.*, exists (select from written where is_update) as "hasChangedMovement",
      (select count(*)::int from written) as "writtenCount" from claimed`.execute(db);
  return rows[0];
}

/**
 * Raises the booked block to `to`, or to the last block that keeps the batch within `movementsMax`. A batch holds at
 * least one block with movements. Returns the booked block, and whether the batch holds movements.
 */
export async function advanceBooked(
  tx: Tx,
  { chain, from, to, movementsMax }: { chain: Caip2; from: bigint; to: bigint; movementsMax: number },
): Promise<{ bookedNumber: bigint; hasMovements: boolean }> {
  const { rows } = await sql<{ bookedNumber: bigint; hasMovements: boolean }>`/* named: raise_booked */
    with moved as (
      select block_number from movement
      where ${inBlocksOf(chain)} and block_number > ${from} and block_number <= ${to} and orphaned_at is null
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
 * Orphans everything above the common ancestor of two branches and lowers the cursor's marks to it. Returns the
 * revision of the orphaned movements; undefined, with nothing changed, when the cursor is no longer at `from`.
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
      rewound_number: sql<bigint>`least(rewound_number, ${ancestorNumber})`,
      pruned_number: sql<bigint>`least(pruned_number, ${ancestorNumber})`,
    })
    .where("chain", "=", chain)
    .where("number", "=", from.number)
    .where("hash", "=", from.hash)
    .returning("revision")
    .executeTakeFirst();
  if (!cursor) return undefined;
  // advanceCursor raises the revision by one later in this transaction.
  const revision = cursor.revision + 1n;
  await orphanAbove(tx, { chain, ancestorNumber, revision, at });
  return revision;
}

/** The lowest block that a reorganisation went back to since the last call, and forgets it. Undefined without one. */
export async function takeRewoundNumber(tx: Tx, chain: Caip2): Promise<bigint | undefined> {
  const { rows } = await sql<{ number: bigint }>`
    with noted as (
      select rewound_number as number from chain_cursor where chain = ${chain} and rewound_number is not null for update
    )
    update chain_cursor set rewound_number = null from noted where chain_cursor.chain = ${chain} returning noted.number`.execute(
    tx,
  );
  return rows[0]?.number;
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
    // A range with two ends: without statistics, one with a single end counts as a third of the table.
    .where(sql<boolean>`number <= (select max(highest.number) from block highest where highest.chain = ${chain})`)
    .where("orphaned_at", "is", null)
    .execute();
  await tx
    .updateTable("movement")
    .set({ orphaned_at: at, revision })
    .where(inBlocksOf(chain))
    .where("block_number", ">", ancestorNumber)
    .where("orphaned_at", "is", null)
    .execute();
}

/** Locks the cursor for writing movements without moving it, and returns the new revision. */
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
  /** Movements up to this block stay unchanged. Default: up to the last reread block. */
  immutableUpTo?: bigint | undefined;
};

/** Writes movements as the chain shows them now, under a revision that the caller claimed. Returns the changed rows. */
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

/** SQL for the last block that was reread after it became final. */
export function rereadNumber(chain: Caip2): RawBuilder<unknown> {
  return sql`(select reread_number from chain_cursor where chain_cursor.chain = ${chain})`;
}

type MovementUpsert = {
  chain: Caip2;
  located: readonly LocatedTransfer[];
  at: Date;
  /** A table expression named `claimed` with one row that has the revision. Nothing is written when it is empty. */
  claimed: RawBuilder<unknown>;
  /** SQL for the block number up to which movements stay unchanged. */
  immutableUpTo: RawBuilder<unknown>;
};

/**
 * Upserts all movements in one statement and returns the changed rows, which get the revision. Identical rows stay, and
 * so do rows in reread blocks, because one provider alone must not change them. Transfers of unknown inboxes write
 * nothing.
 */
function upsertMovements({ chain, located, at, claimed, immutableUpTo }: MovementUpsert): RawBuilder<unknown> {
  const column = <T extends string | number | bigint>(read: (one: LocatedTransfer) => T, type: ElementType) =>
    array(located.map(read), type);
  return sql`
    insert into movement (chain, chain_tx, identity, direction, intent_id, inbox, token, counterparty, amount_units,
      fee_units, batch_place, batch_fee_units, explained_by, bridge_fee_units, block_number, block_hash, place, revision, seen_at)
    select ${chain}, seen.chain_tx, seen.identity, seen.direction, inbox.intent_id, seen.inbox, seen.token, seen.counterparty,
      seen.amount_units, batch.fee_units, batch.place, batch.paid_fee_units, case when crossing.is_own then seen.explained_by end,
      case when crossing.is_own then seen.bridge_fee_units end, seen.block_number, seen.block_hash, seen.place, claimed.revision, ${at}::timestamptz
    from ${claimed}, unnest(
      ${column((one) => one.chainTx, "text")}, ${column((one) => one.identity, "text")},
      ${column((one) => one.direction, "text")}, ${column((one) => one.inbox, "text")},
      ${column((one) => one.token, "text")}, ${column((one) => one.counterparty, "text")},
      ${column((one) => one.amountUnits, "numeric")}, ${column((one) => one.blockNumber, "int8")},
      ${column((one) => one.blockHash, "text")}, ${column((one) => one.place, "int8")},
      ${column((one) => one.crossing?.crossingName ?? "", "text")}, ${column((one) => one.crossing?.feeUnits ?? 0n, "numeric")},
      ${column((one) => one.crossing?.sender ?? "", "text")},
      ${batchColumns(located)}
    ) as seen (chain_tx, identity, direction, inbox, token, counterparty, amount_units, block_number, block_hash, place, explained_by,
      bridge_fee_units, burned_by, ${BATCH_COLUMN_NAMES})
    cross join lateral (select intent_id from inbox where inbox.address = seen.inbox and ${isInboxOnChain(chain)} offset 0) as inbox
    cross join lateral (select seen.explained_by <> '' and (seen.burned_by = '' or exists (select from inbox burning
      where burning.address = seen.burned_by and burning.namespace <> ${namespaceOf(chain)} and burning.intent_id = inbox.intent_id)) as is_own offset 0) as crossing
    ${joinBatch(sql`inbox.intent_id`)}
    order by seen.block_number, seen.place, seen.direction
    on conflict (chain, chain_tx, identity, direction, inbox, token) do update set
      counterparty = excluded.counterparty, amount_units = excluded.amount_units, block_number = excluded.block_number,
      fee_units = excluded.fee_units, batch_place = excluded.batch_place, batch_fee_units = excluded.batch_fee_units,
      explained_by = excluded.explained_by, bridge_fee_units = excluded.bridge_fee_units,
      block_hash = excluded.block_hash, place = excluded.place, revision = excluded.revision, orphaned_at = null, is_resized = movement.is_resized or movement.amount_units <> excluded.amount_units
    where movement.orphaned_at is not null
      or (movement.counterparty, movement.amount_units, movement.block_number, movement.block_hash, movement.place,
          movement.fee_units, movement.batch_place, movement.batch_fee_units, movement.explained_by, movement.bridge_fee_units)
        is distinct from (excluded.counterparty, excluded.amount_units, excluded.block_number, excluded.block_hash, excluded.place,
          excluded.fee_units, excluded.batch_place, excluded.batch_fee_units, excluded.explained_by, excluded.bridge_fee_units)
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

/**
 * Stores the chain's finality and the time of the answer. Does nothing when `cursor` was replaced. On a fast chain the
 * cursor may be higher by now.
 */
export async function storeFinality(
  tx: Tx,
  confirmed: { chain: Caip2; cursor: KnownBlock; safeNumber: bigint; finalizedNumber: bigint; at: Date },
): Promise<CursorState | undefined> {
  const { chain, cursor, safeNumber, finalizedNumber, at } = confirmed;
  // The lock prevents replacement, and a statement that starts after it sees every earlier replacement.
  await sql`select from chain_cursor where chain = ${chain} for update`.execute(tx);
  const { rows } = await sql<CursorState>`
    update chain_cursor set safe_number = greatest(safe_number, ${safeNumber}),
      finalized_number = greatest(finalized_number, ${finalizedNumber}), updated_at = ${at}
    where chain = ${chain} and exists (
      select from block where block.chain = ${chain} and block.number = ${cursor.number} and block.hash = ${cursor.hash}
        and block.orphaned_at is null) returning ${CURSOR_STATE}`.execute(tx);
  return rows[0];
}

/** Raises the reread block. Returns undefined when it has moved, or when finality has dropped. */
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
 * How far below the limit a prune looks, in blocks, so that it stays short. What lies lower remains: a provider that
 * invents a head far ahead must not make the chain forget the blocks that it returns to.
 */
const PRUNED_BLOCKS_MAX = 10_000n;

/**
 * Deletes blocks below a number, except those with movements. Each block is visited once. The caller holds the lock of
 * the cursor.
 */
export async function pruneBlocks(tx: Tx, { chain, below }: { chain: Caip2; below: bigint }): Promise<void> {
  const { rows } = await sql<{ from: bigint; to: bigint }>`
    update chain_cursor set pruned_number = ${below - 1n}
    from (select pruned_number from chain_cursor where chain = ${chain}) as earlier
    where chain_cursor.chain = ${chain} and earlier.pruned_number < ${below - 1n}
    returning greatest(earlier.pruned_number + 1, ${below - PRUNED_BLOCKS_MAX}::int8) as "from", chain_cursor.pruned_number as "to"`.execute(
    tx,
  );
  const [range] = rows;
  if (range === undefined) return;
  // The inner limit makes the database look each block up by the index on movements, whatever it knows about the
  // tables.
  await sql`
    delete from block where chain = ${chain} and number >= ${range.from} and number <= ${range.to} and (
      select movement.id from movement where ${inBlocksOf(sql.ref("block.chain"))} and movement.block_number = block.number
        and movement.block_hash = block.hash limit 1) is null`.execute(tx);
}

/** Orphans one movement in one block. Returns false when it is not there any more. */
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
