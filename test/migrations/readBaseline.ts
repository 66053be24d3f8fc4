import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";
import type { BASELINE_SEEDS } from "./baselineKinds.ts";

/** The statements that write a database of the baseline, with the money of one simulation. */
export async function readBaseline(seed: (typeof BASELINE_SEEDS)[number]): Promise<string> {
  const readText = (name: string) => readFile(new URL(name, import.meta.url), "utf8");
  return `${await readText("baseline.sql")}${await readText(`rows/seed${seed}.sql`)}`;
}

/** Every amount and owner, in a stable order. Later columns are not compared. */
export async function readMoney(db: Db): Promise<unknown> {
  const queries = [
    sql`select id, status, received_units, counted_units, settled_units, fee_units, net_units, inbox_address from intent order by id`,
    sql`select namespace, reference, address, intent_id, kind, token from inbox order by 1, 2, 3, 6`,
    sql`select id, intent_id, status, amount_units, counted_units, settlement_id from deposit order by id`,
    sql`select intent_id, chain, token, waiting_units, dust_units, dust_held_units, rest_units, suspense_units, unswept_units
      from holding order by 1, 2, 3`,
    sql`select id, intent_id, status, gross_units, fee_units, route_cost_units, net_units, chain_tx from settlement order by id`,
    sql`select id, intent_id, inbox, direction, amount_units, identity, place, chain_tx, orphaned_at from movement order by id`,
    sql`select movement_id, status, units, message, mint from crossing order by 1`,
    sql`select holder, asset, account, balance_units from ledger_balance order by 1, 2, 3`,
    sql`select account, asset, sum(amount_units) as units, count(*) as entries from ledger_entry group by 1, 2 order by 1, 2`,
    sql`select id, chain, sender, nonce, status, mined_chain_tx from outgoing_transaction order by id`,
    sql`select outgoing_id, attempt, chain_tx, raw from outgoing_attempt order by 1, 2`,
    sql`select id, account_number, sequence, type, content from event order by position`,
  ];
  const answers = [];
  for (const query of queries) answers.push((await query.execute(db.root)).rows);
  return answers;
}
