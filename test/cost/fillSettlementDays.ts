import type pg from "pg";

/** Writes what the triggers of settlements would have added up. */
export async function fillSettlementDays(client: pg.Client): Promise<void> {
  await client.query("delete from settlement_day");
  await client.query("delete from settlement_day_change");
  await client.query(`
    insert into settlement_day
      select intent.account_id, (settlement.landed_at at time zone 'UTC')::date, settlement.chain, settlement.token, count(*),
        sum(settlement.gross_units), sum(settlement.fee_units), sum(settlement.route_cost_units), sum(settlement.net_units)
      from settlement join intent on intent.id = settlement.intent_id where settlement.status = 'landed' group by 1, 2, 3, 4`);
}
