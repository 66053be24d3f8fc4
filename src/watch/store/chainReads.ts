import type { Db, Tx } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../movement.ts";
import type { KnownBlock } from "./store.ts";

// Reads of recorded blocks and of the movements in them.

/** Canonical blocks in our tables at or below a number, highest first. */
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

/** The canonical hash at each number; unknown numbers are left out. */
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
