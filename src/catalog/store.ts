import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { Catalog } from "./catalog.ts";

/** Records the configured tokens, so that a later start can detect a token that the configuration lost. */
export async function saveServedTokens(db: Db, catalog: Catalog, at: Date): Promise<void> {
  const rows = catalog.assets.map(({ chain, token, symbol }) => ({ chain, token, symbol, since: at }));
  await db.root
    .insertInto("served_token")
    .values(rows)
    .onConflict((conflict) => conflict.columns(["chain", "token"]).doNothing())
    .execute();
}

export type MissingToken = { chain: Caip2; token: string; symbol: string };

/**
 * Tokens that the catalog lacks although payments in them may still arrive: an intent pays out in the token, pins a
 * route from it, has an inbox on its chain, or has received it. Without them the service would not see such payments.
 */
export async function listMissingTokens(db: Db, catalog: Catalog): Promise<MissingToken[]> {
  const served = await db.root.selectFrom("served_token").select(["chain", "token", "symbol"]).execute();
  const known = new Set(catalog.assets.map(({ chain, token }) => `${chain}/${token}`));
  const unconfigured = served.filter(({ chain, token }) => !known.has(`${chain}/${token}`));
  const needed = await Promise.all(unconfigured.map((token) => isTokenInUse(db, token)));
  return unconfigured.filter((_, index) => needed[index]);
}

async function isTokenInUse(db: Db, { chain, token }: MissingToken): Promise<boolean> {
  const { rows } = await sql<{ needed: boolean }>`
    select exists (select from intent
        where payout_namespace || ':' || payout_chain_reference = ${chain} and payout_token = ${token})
      or exists (select from route_set cross join json_array_elements(route_set.routes) as route
        where 'eip155:' || (route ->> 'chainId') = ${chain} and route ->> 'token' = ${token}
          and exists (select from intent where intent.route_set = route_set.id))
      or exists (select from route_set cross join json_array_elements(route_set.hops) as hop
        where hop ->> 'chain' = ${chain} and hop ->> 'mint' = ${token}
          and exists (select from intent where intent.route_set = route_set.id and intent.hop_recovery is not null))
      or exists (select from source_inbox where namespace || ':' || reference = ${chain} and token in ('', ${token}))
      or exists (select from movement where chain = ${chain} and token = ${token}) as needed`.execute(db.root);
  return rows[0]?.needed === true;
}
