import { sql, type RawBuilder } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { array, unnest } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { BlockHeights } from "../finality.ts";
import type { LocatedTransfer, MovementRow } from "../movement.ts";
import { inBlocksOf } from "./namedIndexes.ts";
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
    .where(inBlocksOf(chain))
    .where("block_number", ">=", fromBlock)
    .where("block_number", "<=", toBlock)
    .where("orphaned_at", "is", null)
    .execute();
}

const BLOCK_NUMBER_MAX = 2n ** 63n - 1n;

/** Whether a movement stands above a block. With both ends and an order, every plan uses the index of blocks. */
export async function hasMovementAbove(db: Db, { chain, number }: { chain: Caip2; number: bigint }): Promise<boolean> {
  const { rows } = await sql`/* named: movement_above */
    select from movement where ${inBlocksOf(chain)} and block_number > ${number} and block_number <= ${BLOCK_NUMBER_MAX}
      and orphaned_at is null
    order by (movement.chain || '') desc, block_number desc limit 1`.execute(db.root);
  return rows.length > 0;
}

/** The rules in seconds of a chain. */
export type AgeRules = { chain: Caip2; seconds: readonly number[] };

/** Chains as SQL. `name`: of the statement, which has one text. */
export type ChainSelection = { name: string; chains: RawBuilder<unknown> };

export const onlyChain = (chain: Caip2): ChainSelection => ({ name: "one", chains: sql`${chain}::text` });

/**
 * The heights of the chains that `only` selects, or of every chain, with the blocks that are as old as its rules ask.
 * Both times come from recorded blocks. One statement, so that no other branch comes between a height and an age.
 */
export async function listHeights(
  db: Db["root"],
  rules: readonly AgeRules[],
  only?: ChainSelection,
): Promise<Map<string, BlockHeights & { chain: string }>> {
  const asked = rules.flatMap(({ chain, seconds }) => seconds.map((each) => ({ chain, seconds: each })));
  const { rows } = await sql<HeightsRow>`/* named: chain_heights${sql.raw(only ? `_${only.name}` : "")} */
    select chain_cursor.chain, chain_cursor.number, safe_number as "safeNumber", finalized_number as "finalizedNumber",
      (select json_agg(json_build_array(asked.seconds, aged.number::text))
        from ${unnest("asked", asked, { chain: "text", seconds: "int4" })}
        join block head on head.chain = chain_cursor.chain and head.number = chain_cursor.number and head.orphaned_at is null
        cross join lateral (
          select block.number from block
          where block.chain = head.chain and block.orphaned_at is null and block.number < head.number
            and block.timestamp_s <= head.timestamp_s - asked.seconds
          order by block.timestamp_s desc, block.number desc limit 1
        ) as aged
        where asked.chain = chain_cursor.chain) as aged
    from chain_cursor ${only ? sql`where chain_cursor.chain in (${only.chains})` : sql``}`.execute(db);
  return new Map(
    rows.map(({ aged, ...heights }) => {
      const agedNumbers = new Map((aged ?? []).map(([seconds, number]) => [seconds, BigInt(number)]));
      return [heights.chain, aged === null ? heights : { ...heights, agedNumbers }];
    }),
  );
}

type HeightsRow = Omit<BlockHeights, "agedNumbers"> & {
  chain: string;
  aged: [seconds: number, number: string][] | null;
};

/** The canonical hash at each number; unknown numbers are left out. */
export async function listHashesAt(
  db: Db["root"],
  { chain, numbers }: { chain: Caip2; numbers: readonly bigint[] },
): Promise<KnownBlock[]> {
  if (numbers.length === 0) return [];
  return db
    .selectFrom("block")
    .select(["number", "hash"])
    .where("chain", "=", chain)
    .where("number", "in", [...new Set(numbers)])
    .where("orphaned_at", "is", null)
    .execute();
}

/** Whether a reorganisation went back since the last call of takeRewoundNumber. */
export async function isRewound(db: Db, chain: Caip2): Promise<boolean> {
  const row = await db.root
    .selectFrom("chain_cursor")
    .select("chain")
    .where("chain", "=", chain)
    .where("rewound_number", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** The blocks of the transfers that our tables know as replaced. */
export async function listReplacedBlocks(
  tx: Tx,
  chain: Caip2,
  located: readonly LocatedTransfer[],
): Promise<Set<string>> {
  const hashes = located.map(({ blockHash }) => blockHash);
  const numbers = located.map(({ blockNumber }) => blockNumber);
  const { rows } = await sql<{ hash: string }>`
    select seen.hash from unnest(${array(hashes, "text")}, ${array(numbers, "int8")}) as seen (hash, number)
    cross join lateral (
      (select from block where block.chain = ${chain} and block.number = seen.number and block.hash <> seen.hash
        and block.orphaned_at is null limit 1)
      union all
      (select from block where block.chain = ${chain} and block.hash = seen.hash and block.orphaned_at is not null limit 1)
    ) as known`.execute(tx);
  return new Set(rows.map(({ hash }) => hash));
}

/** The live movements of inboxes in transactions. */
export async function listLiveMovements(
  db: Db,
  { chain, chainTxs, inboxes }: { chain: Caip2; chainTxs: readonly string[]; inboxes: readonly string[] },
): Promise<MovementRow[]> {
  if (chainTxs.length === 0) return [];
  const { rows } = await sql<MovementRow>`/* named: live_movements */
    select recorded.* from unnest(${array(chainTxs, "text")}) as asked (chain_tx) cross join lateral (
      select * from movement where movement.chain = ${chain} and movement.chain_tx = asked.chain_tx offset 0
    ) as recorded
    where recorded.inbox = any(${array(inboxes, "text")}) and recorded.orphaned_at is null`.execute(db.root);
  return rows;
}
