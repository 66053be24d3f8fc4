import { sql, type RawBuilder, type Selectable } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { isDue } from "../../db/due.ts";
import { unnest } from "../../db/parameters.ts";
import type { ListedDepositView } from "../depositTables.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { isPostponedUpTo } from "../../watch/postponed/postponedStore.ts";
import type { DustBlock, Holding } from "./dust.ts";

// The statements that read dust and find the holdings with work.

export const KEY_COLUMNS = { intent_id: "text", chain: "text", token: "text" } as const;

export type HoldingKey = Pick<Holding, "intent_id" | "chain" | "token">;

/**
 * Holdings on a chain with unsummed dust in blocks up to `finalBlock`, or with stale sums, apart from those that wait
 * for dust which watch has postponed.
 */
export async function listUnsummedHoldings(
  db: Db["root"],
  { chain, finalBlock, limit }: { chain: Caip2; finalBlock: bigint; limit: number },
): Promise<Pick<Holding, "intent_id" | "token">[]> {
  const { rows } = await sql<Pick<Holding, "intent_id" | "token">>`
    select intent_id, token from (
      (select intent_id, token, -1 as place from holding
        where chain = ${chain} and is_stale and not ${isPostponedUpTo("holding", sql`${finalBlock}::int8`)} limit ${limit})
      union all
      (select intent_id, token, dust_from as place from holding
        where chain = ${chain} and dust_from <= ${finalBlock} and not is_stale
          and not ${isPostponedUpTo("holding", sql.ref("holding.dust_from"))} order by dust_from limit ${limit})
    ) as due order by place limit ${limit}`.execute(db);
  return rows;
}

/**
 * Holdings whose waiting dust needs the providers' word, and is due. `waitMsMax` is the longest wait between two
 * questions.
 */
export async function listUnverifiedHoldings(
  db: Db["root"],
  { chain, at, waitMsMax, limit }: { chain: Caip2; at: Date; waitMsMax: number; limit: number },
): Promise<Holding[]> {
  return db
    .selectFrom("holding")
    .selectAll()
    .where("chain", "=", chain)
    .where(isDue("verify_from", { now: at, waitMsMax }))
    .orderBy("verify_from")
    .limit(limit)
    .execute();
}

/**
 * Dust rows of one inbox are movements without a deposit; the station has processed all of them when no movement of the
 * intent waits.
 */
export const dustOf = (holding: RawBuilder<unknown>) => sql`
  movement.intent_id = ${holding}.intent_id and movement.chain = ${holding}.chain and movement.token = ${holding}.token
  and movement.direction = 'in' and movement.orphaned_at is null and movement.explained_by is null
  and not exists (select from deposit where deposit.movement_id = movement.id)`;

/** SQL for the last sweep of an inbox: dust after it is still there. */
export const lastSweepOf = (holding: RawBuilder<unknown>) => sql`
  select block_number, place from movement departure
  where departure.intent_id = ${holding}.intent_id and departure.chain = ${holding}.chain and departure.token = ${holding}.token
    and departure.direction = 'out' and departure.orphaned_at is null
  order by block_number desc, place desc limit 1`;

export type DustPage = { key: HoldingKey; uptoBlock: bigint; blocks: DustBlock[] };

/**
 * The dust of these holdings from `dust_from` up to their `upto_block`, summed by block. Each page ends with a whole block
 * once it has read `rowsMax` movements; `uptoBlock` is then that block.
 */
export async function sumDustBlocks(
  tx: Tx,
  { holdings, rowsMax }: { holdings: readonly (Holding & { upto_block: bigint })[]; rowsMax: number | undefined },
): Promise<DustPage[]> {
  // Nearly all have one last block. As a constant it lets the planner choose the index by block whatever it knows.
  const pages: DustPage[] = [];
  for (const [lastBlock, group] of Map.groupBy(holdings, (holding) => holding.upto_block))
    pages.push(...(await sumBlocksUpTo(tx, { holdings: group, lastBlock, rowsMax })));
  return pages;
}

async function sumBlocksUpTo(
  tx: Tx,
  { holdings, lastBlock, rowsMax }: { holdings: readonly Holding[]; lastBlock: bigint; rowsMax: number | undefined },
): Promise<DustPage[]> {
  const { rows } = await sql<HoldingKey & DustBlock & { uptoBlock: bigint }>`
    with asked as (
      select * from ${unnest("asked", holdings, { ...KEY_COLUMNS, dust_from: "int8" })}
    )
    select asked.intent_id, asked.chain, asked.token, page.upto_block as "uptoBlock", coalesce(summed.block_number, -1) as "blockNumber",
      coalesce(summed.count, 0) as count, coalesce(summed.units, 0) as units, coalesce(summed.held_units, 0) as "heldUnits"
    from asked
    cross join lateral (
      select coalesce((
        select block_number from movement where ${dustOf(sql`asked`)}
          and movement.block_number >= asked.dust_from and movement.block_number <= ${lastBlock}
        order by block_number offset ${rowsMax ?? null}::int8 limit ${rowsMax === undefined ? 0 : 1}), ${lastBlock}::int8) as upto_block
    ) as page
    left join lateral (${lastSweepOf(sql`asked`)}) as swept on true
    left join lateral (
      select movement.block_number, count(*) as count, sum(movement.amount_units) as units,
        coalesce(sum(movement.amount_units) filter (where swept.block_number is null
          or (movement.block_number, movement.place) > (swept.block_number, swept.place)), 0) as held_units
      from movement where ${dustOf(sql`asked`)}
        and movement.block_number >= asked.dust_from and movement.block_number <= page.upto_block
      group by movement.block_number
    ) as summed on true
    order by asked.intent_id, asked.chain, asked.token, summed.block_number`.execute(tx);
  const pages = Map.groupBy(rows, (row) => `${row.intent_id}/${row.chain}/${row.token}`);
  return [...pages.values()].flatMap((blocks) => {
    const [first] = blocks;
    if (first === undefined) return [];
    const { intent_id, chain, token, uptoBlock } = first;
    return [{ key: { intent_id, chain, token }, uptoBlock, blocks: blocks.filter((block) => block.count > 0n) }];
  });
}

/** A row of a list without its position in it. */
export type DustRow = Omit<Selectable<ListedDepositView>, "movement_id">;

/** The last dust of each holding in its counted blocks, on the chain or orphaned. */
export async function listLastDust(tx: Tx, holdings: readonly Holding[]): Promise<DustRow[]> {
  const { rows } = await sql<DustRow>`
    select last.* from ${unnest("asked", holdings, { ...KEY_COLUMNS, dust_block: "int8" })}
    cross join lateral (
      select movement.id as movement_id from movement
      where movement.intent_id = asked.intent_id and movement.chain = asked.chain and movement.token = asked.token
        and movement.direction = 'in' and movement.explained_by is null and movement.block_number <= asked.dust_block
        and not exists (select from deposit where deposit.movement_id = movement.id)
      order by movement.block_number desc, movement.place desc limit 1
    ) as dust
    cross join lateral (
      select * from listed_deposit where listed_deposit.movement_id = dust.movement_id and listed_deposit.intent_id = asked.intent_id
    ) as last`.execute(tx);
  return rows;
}
