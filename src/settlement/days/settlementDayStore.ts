import { sql, type Selectable } from "kysely";
import type { Db } from "../../db/database.ts";
import type { SettlementDayTable } from "../settlementTables.ts";

// What settlements came to on each day. A trigger of the database appends each change of a landed settlement, so that no
// settlement waits for the row of a day, and a reorg takes away what it added.

export type SettlementDay = Selectable<SettlementDayTable>;

/** Adds the oldest changes to their days, and returns their number. Processes that do it at once take different ones. */
export async function addChangesToDays(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    with taken as (
      delete from settlement_day_change where number = any(array(
        select number from settlement_day_change order by number limit ${limit} for update skip locked))
      returning *
    ), added as (
      insert into settlement_day as stored
        (account_id, day, chain, token, landed_count, gross_units, fee_units, route_cost_units, net_units)
      select account_id, day, chain, token, sum(landed_count), sum(gross_units), sum(fee_units), sum(route_cost_units),
        sum(net_units)
      from taken group by account_id, day, chain, token order by account_id, day, chain, token
      on conflict (account_id, day, chain, token) do update set
        landed_count = stored.landed_count + excluded.landed_count,
        gross_units = stored.gross_units + excluded.gross_units,
        fee_units = stored.fee_units + excluded.fee_units,
        route_cost_units = stored.route_cost_units + excluded.route_cost_units,
        net_units = stored.net_units + excluded.net_units
    )
    select count(*) as count from taken`.execute(db.root);
  return Number(rows[0]?.count ?? 0n);
}

/** The days of an account from `from` on and before `to`, as dates such as 2026-11-28, the oldest first. */
export async function listDays(
  db: Db,
  { accountId, from, to, limit }: { accountId: string; from: string; to: string; limit: number },
): Promise<SettlementDay[]> {
  const { rows } = await sql<SettlementDay>`
    select account_id, to_char(day, 'YYYY-MM-DD') as day, chain, token, landed_count, gross_units, fee_units,
      route_cost_units, net_units
    from settlement_day where account_id = ${accountId} and day >= ${from}::date and day < ${to}::date
    order by settlement_day.day, chain, token limit ${limit}`.execute(db.root);
  return rows;
}

/** When the oldest change was made that its day lacks; undefined when no day lacks any. */
export async function oldestChangeAt(db: Db): Promise<Date | undefined> {
  const { rows } = await sql<{ changedAt: Date }>`
    select changed_at as "changedAt" from settlement_day_change order by number limit 1`.execute(db.root);
  return rows[0]?.changedAt;
}

/** Deletes days before a date, and returns their number. */
export async function deleteOldDays(db: Db, { before, limit }: { before: string; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from settlement_day where (account_id, day, chain, token) in (
      select account_id, day, chain, token from settlement_day where day < ${before}::date order by day limit ${limit})
    returning 1`.execute(db.root);
  return rows.length;
}
