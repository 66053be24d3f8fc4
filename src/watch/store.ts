import { sql, type Selectable } from "kysely";
import type { BlockRef } from "../chain/driver.ts";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { ChainCursorTable } from "../db/schema.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { MovementRow, Sighting } from "./movement.ts";

export type CursorRow = Selectable<ChainCursorTable>;
/** A block that we hold to be canonical. */
export type KnownBlock = { number: bigint; hash: string };

export async function findCursor(db: Db, chain: Caip2): Promise<CursorRow | undefined> {
  return db.read.selectFrom("chain_cursor").selectAll().where("chain", "=", chain).executeTakeFirst();
}

export async function listCursors(db: Db): Promise<CursorRow[]> {
  return db.read.selectFrom("chain_cursor").selectAll().execute();
}

/** Begins a chain at `head`; nothing happens when somebody else began it. Whatever is deeper was never promised to be seen. */
export async function insertCursor(
  tx: Tx,
  { chain, genesisHash, head, at }: { chain: Caip2; genesisHash: string; head: BlockRef; at: Date },
): Promise<void> {
  const { number, hash } = head;
  const inserted = await tx
    .insertInto("chain_cursor")
    .values({ chain, genesis_hash: genesisHash, number, hash, reread_number: number, updated_at: at })
    .onConflict((conflict) => conflict.column("chain").doNothing())
    .returning("chain")
    .execute();
  if (inserted.length > 0) await insertBlocks(tx, chain, [head]);
}

export type Advance = {
  chain: Caip2;
  /** Where the cursor must still stand for this to happen. */
  from: KnownBlock;
  /** The last block that both branches share; `from` itself when nothing was replaced. */
  ancestorNumber: bigint;
  /** Where the cursor goes. */
  to: KnownBlock;
  at: Date;
};

/**
 * Moves the cursor, takes back what lies above the ancestor, and returns the revision that every row of this transaction carries; undefined,
 * with nothing changed, when the cursor is elsewhere already. The row's lock is held until commit: so revisions become visible in order.
 */
export async function advanceCursor(
  tx: Tx,
  { chain, from, ancestorNumber, to, at }: Advance,
): Promise<bigint | undefined> {
  const moved = await tx
    .updateTable("chain_cursor")
    .set({
      number: to.number,
      hash: to.hash,
      safe_number: sql<bigint>`least(safe_number, ${ancestorNumber})`,
      finalized_number: sql<bigint>`least(finalized_number, ${ancestorNumber})`,
      reread_number: sql<bigint>`least(reread_number, ${ancestorNumber})`,
      revision: sql<bigint>`revision + 1`,
      updated_at: at,
    })
    .where("chain", "=", chain)
    .where("number", "=", from.number)
    .where("hash", "=", from.hash)
    .returning("revision")
    .executeTakeFirst();
  if (moved && ancestorNumber < from.number)
    await orphanAbove(tx, { chain, ancestorNumber, revision: moved.revision, at });
  return moved?.revision;
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

/** Blocks that are canonical from now on; a chain may come back to one that it had left. */
export async function insertBlocks(tx: Tx, chain: Caip2, blocks: readonly BlockRef[]): Promise<void> {
  if (blocks.length === 0) return;
  await tx
    .insertInto("block")
    .values(
      blocks.map(({ number, hash, parentHash }) => ({
        chain,
        number,
        hash,
        parent_hash: parentHash,
        orphaned_at: null,
      })),
    )
    .onConflict((conflict) => conflict.columns(["chain", "hash"]).doUpdateSet({ orphaned_at: null }))
    .execute();
}

/** Takes the lock under which movements are written without moving the cursor, and returns their revision. */
export async function claimRevision(tx: Tx, chain: Caip2): Promise<{ revision: bigint; number: bigint } | undefined> {
  return tx
    .updateTable("chain_cursor")
    .set({ revision: sql<bigint>`revision + 1` })
    .where("chain", "=", chain)
    .returning(["revision", "number"])
    .executeTakeFirst();
}

/**
 * Writes movements as they stand on the chain now, in one statement. Rows that say so already are left alone; the others carry the
 * revision and are returned. What is no inbox of an intent writes nothing.
 */
export async function writeMovements(
  tx: Tx,
  { chain, sightings, revision, at }: { chain: Caip2; sightings: readonly Sighting[]; revision: bigint; at: Date },
): Promise<MovementRow[]> {
  if (sightings.length === 0) return [];
  const written = await sql<MovementRow>`
    insert into movement (chain, chain_tx, position, direction, intent_id, inbox, token, counterparty, amount_units,
      block_number, block_hash, log_index, revision, seen_at)
    select ${chain}, seen.chain_tx, seen.position, seen.direction, intent.id, seen.inbox, seen.token, seen.counterparty,
      seen.amount_units, seen.block_number, seen.block_hash, seen.log_index, ${revision}, ${at}
    from unnest(
      ${array(
        sightings.map((one) => one.chainTx),
        "text",
      )},
      ${array(
        sightings.map((one) => one.position),
        "int4",
      )},
      ${array(
        sightings.map((one) => one.direction),
        "text",
      )},
      ${array(
        sightings.map((one) => one.inbox),
        "text",
      )},
      ${array(
        sightings.map((one) => one.token),
        "text",
      )},
      ${array(
        sightings.map((one) => one.counterparty),
        "text",
      )},
      ${array(
        sightings.map((one) => one.amountUnits),
        "numeric",
      )},
      ${array(
        sightings.map((one) => one.blockNumber),
        "int8",
      )},
      ${array(
        sightings.map((one) => one.blockHash),
        "text",
      )},
      ${array(
        sightings.map((one) => one.logIndex),
        "int4",
      )}
    ) as seen (chain_tx, position, direction, inbox, token, counterparty, amount_units, block_number, block_hash, log_index)
    join intent on intent.inbox_address = seen.inbox
    order by seen.block_number, seen.log_index, seen.direction
    on conflict (chain, chain_tx, position, direction) do update set
      intent_id = excluded.intent_id, inbox = excluded.inbox, token = excluded.token, counterparty = excluded.counterparty,
      amount_units = excluded.amount_units, block_number = excluded.block_number, block_hash = excluded.block_hash,
      log_index = excluded.log_index, revision = excluded.revision, orphaned_at = null
    where (movement.inbox, movement.token, movement.counterparty, movement.amount_units, movement.block_hash, movement.log_index)
        is distinct from
      (excluded.inbox, excluded.token, excluded.counterparty, excluded.amount_units, excluded.block_hash, excluded.log_index)
      or movement.orphaned_at is not null
    returning *`.execute(tx);
  return written.rows;
}

export async function orphanMovements(
  tx: Tx,
  { ids, revision, at }: { ids: readonly bigint[]; revision: bigint; at: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await tx.updateTable("movement").set({ orphaned_at: at, revision }).where("id", "in", ids).execute();
}

/** Says that the chain answered and how final it is; nothing, when the cursor is elsewhere already. */
export async function confirmCursor(
  db: Db,
  confirmed: { chain: Caip2; cursor: KnownBlock; safeNumber: bigint; finalizedNumber: bigint; at: Date },
): Promise<void> {
  const { chain, cursor, safeNumber, finalizedNumber, at } = confirmed;
  await db.read
    .updateTable("chain_cursor")
    .set({
      safe_number: sql<bigint>`greatest(safe_number, ${safeNumber})`,
      finalized_number: sql<bigint>`greatest(finalized_number, ${finalizedNumber})`,
      updated_at: at,
    })
    .where("chain", "=", chain)
    .where("number", "=", cursor.number)
    .where("hash", "=", cursor.hash)
    .execute();
}

/** Moves the mark up to which blocks were read a second time; false when it, or the finality below it, has moved meanwhile. */
export async function advanceReread(
  tx: Tx,
  { chain, from, to }: { chain: Caip2; from: CursorRow; to: bigint },
): Promise<bigint | undefined> {
  const moved = await tx
    .updateTable("chain_cursor")
    .set({ reread_number: to, revision: sql<bigint>`revision + 1` })
    .where("chain", "=", chain)
    .where("reread_number", "=", from.reread_number)
    .where("finalized_number", ">=", from.finalized_number)
    .where("number", ">=", to)
    .returning("revision")
    .executeTakeFirst();
  return moved?.revision;
}

/** Forgets blocks below a number, but for those in which a movement stands. */
export async function pruneBlocks(tx: Tx, { chain, below }: { chain: Caip2; below: bigint }): Promise<void> {
  await tx
    .deleteFrom("block")
    .where("chain", "=", chain)
    .where("number", "<", below)
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
  return db.read
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
  return db.read
    .selectFrom("movement")
    .selectAll()
    .where("chain", "=", chain)
    .where("block_number", ">=", fromBlock)
    .where("block_number", "<=", toBlock)
    .where("orphaned_at", "is", null)
    .execute();
}

/** Inboxes of intents in the order in which they were made, those beyond `seq` and those among the named ones. */
export async function listInboxesAfter(
  db: Db,
  { seq, orAmong, limit }: { seq: bigint; orAmong: readonly bigint[]; limit: number },
): Promise<{ seq: bigint; inbox: string }[]> {
  const beyond = db.read
    .selectFrom("intent")
    .select(["seq", "inbox_address as inbox"])
    .where("seq", ">", seq)
    .orderBy("seq")
    .limit(limit);
  if (orAmong.length === 0) return beyond.execute();
  const late = db.read
    .selectFrom("intent")
    .select(["seq", "inbox_address as inbox"])
    .where("seq", "in", [...orAmong]);
  const [found, more] = await Promise.all([late.execute(), beyond.execute()]);
  return [...found, ...more];
}

/** Those of the addresses that are inboxes, by the database's own word. */
export async function listInboxesAmong(db: Db, addresses: readonly string[]): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const { rows } = await sql<{ inbox: string }>`
    select inbox_address as inbox from intent where inbox_address = any(${array(addresses, "text")})`.execute(db.read);
  return new Set(rows.map((row) => row.inbox));
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

export async function findInboxOf(db: Db, intentId: string): Promise<string | undefined> {
  const intent = await db.read
    .selectFrom("intent")
    .select("inbox_address")
    .where("id", "=", intentId)
    .executeTakeFirst();
  return intent?.inbox_address;
}
