import { sql, type RawBuilder } from "kysely";
import { array } from "../../db/parameters.ts";
import { intentColumns, type IntentRow } from "../../intent/store.ts";
import { listIntents } from "../../intent/readIntents.ts";
import type { World } from "../../world.ts";

type SearchWorld = Pick<World, "db" | "config" | "entropy" | "memory">;

const FOUND_MAX = 20;
/** Rows that a hash or a payer is looked up in. */
const READ_MAX = 200;

/**
 * The account's own payments that a text names: one lookup by its form, through an index. What belongs to another
 * account is not found, as what does not exist.
 */
export async function searchPayments(world: SearchWorld, accountId: string, text: string): Promise<IntentRow[]> {
  const query = text.trim();
  // PostgreSQL refuses this character, and no stored text has it.
  if (query === "" || query.includes("\0")) return [];
  const named = await findNamed(world, accountId, query);
  // Each is looked up by its id: a planner without statistics would go through the account's own intents.
  const { rows: found } = await sql<IntentRow>`
    select ${sql.raw(intentColumns("intent"))} from unnest(${array(named, "text")}) as named (id)
      cross join lateral (select * from intent where intent.id = named.id offset 0) as intent
    where intent.account_id = ${accountId} order by intent.seq desc limit ${FOUND_MAX}`.execute(world.db.root);
  if (found.length > 0 || query.length > 200) return found;
  return (await listIntents(world, { accountId, limit: FOUND_MAX, merchantReference: query })).intents;
}

/** Ids of intents; only those of a payer are of the account alone. */
async function findNamed({ db, config }: SearchWorld, accountId: string, query: string): Promise<string[]> {
  if (query.startsWith("pi_")) return [query];
  if (query.startsWith("dep_")) return listIds(db, sql`select intent_id as id from deposit where id = ${query}`);
  if (query.startsWith("set_")) return listIds(db, sql`select intent_id as id from settlement where id = ${query}`);
  const stored = /^0x[0-9a-f]+$/i.test(query) ? query.toLowerCase() : query;
  if (!/^[0-9a-z]{32,90}$/i.test(stored)) return [];
  const chains = array(
    config.chains.map(({ caip2 }) => caip2),
    "text",
  );
  if (stored.length > 44)
    return listIds(
      db,
      sql`select distinct intent_id as id from (select intent_id from movement
        where chain = any(${chains}) and chain_tx = ${stored} limit ${READ_MAX}) as found`,
    );
  return listIds(
    db,
    sql`select distinct id from (
      select intent_id as id from inbox where namespace in ('eip155', 'solana') and address = ${stored}
      union all
      select intent_id from (select intent_id from deposit where sender = ${stored} and account_id = ${accountId}
        order by seq desc limit ${READ_MAX}) as latest
      union all
      select intent_id from (select intent_id from deposit where sender = ${stored} and account_id is null
        order by seq desc limit ${READ_MAX}) as unnamed
    ) as found limit ${READ_MAX}`,
  );
}

async function listIds(db: World["db"], statement: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await (statement as RawBuilder<{ id: string }>).execute(db.root);
  return rows.map(({ id }) => id);
}
