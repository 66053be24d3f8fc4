import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { unnest } from "../db/parameters.ts";
import type { Caip2 } from "../kernel/caip.ts";
import type { Catalog } from "./catalog.ts";

/** Records the configured tokens, so that a later start can detect a token that the configuration lost. */
export async function saveServedTokens(db: Db, catalog: Catalog, at: Date): Promise<void> {
  const isUnknown = { unused_intent: null, unused_movement: null };
  const rows = catalog.assets.map(({ chain, token, symbol }) => ({ chain, token, symbol, since: at, ...isUnknown }));
  await db.root
    .insertInto("served_token")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["chain", "token"]).doUpdateSet(isUnknown).where("served_token.unused_intent", "is not", null),
    )
    .execute();
}

export type MissingToken = { chain: Caip2; token: string; symbol: string };

type ServedToken = MissingToken & { unused_intent: bigint | null; unused_movement: bigint | null };

/** Rows with numbers this much lower may still be written by open transactions. */
const NUMBERS_OPEN_MAX = 10_000;

/**
 * Tokens that the catalog lacks although payments in them may still arrive: an intent pays out in the token, pins a
 * route from it, has an inbox on its chain, or has received it. Without them the service would not see such payments.
 * Stores up to which rows the other tokens are unused, so a later call reads only the rows after those.
 */
export async function listMissingTokens(
  db: Db,
  catalog: Catalog,
  { openMax = NUMBERS_OPEN_MAX } = {},
): Promise<MissingToken[]> {
  const served = await db.root.selectFrom("served_token").selectAll().execute();
  const known = new Set(catalog.assets.map(({ chain, token }) => `${chain}/${token}`));
  const unconfigured = served.filter(({ chain, token }) => !known.has(`${chain}/${token}`));
  if (unconfigured.length === 0) return [];
  const newest = await findNewestNumbers(db);
  const needed = await Promise.all(unconfigured.map((token) => isTokenInUse(db, token)));
  await noteUnused(
    db,
    unconfigured.filter((_, index) => !needed[index]),
    { intent: newest.intent - BigInt(openMax), movement: newest.movement - BigInt(openMax) },
  );
  return unconfigured.filter((_, index) => needed[index]);
}

async function findNewestNumbers(db: Db): Promise<{ intent: bigint; movement: bigint }> {
  const { rows } = await sql<{ intent: bigint; movement: bigint }>`
    select coalesce((select seq from intent order by seq desc limit 1), 0) as intent,
      coalesce((select id from movement order by id desc limit 1), 0) as movement`.execute(db.root);
  return rows[0] ?? { intent: 0n, movement: 0n };
}

async function noteUnused(
  db: Db,
  tokens: readonly MissingToken[],
  upto: { intent: bigint; movement: bigint },
): Promise<void> {
  if (tokens.length === 0) return;
  await sql`
    update served_token set unused_intent = ${upto.intent}, unused_movement = ${upto.movement}
    from ${unnest("named", tokens, { chain: "text", token: "text" })}
    where (served_token.chain, served_token.token) = (named.chain, named.token)`.execute(db.root);
}

/**
 * Above every number. With both ends the planner takes a range for small and reads it by index, as it does of one
 * chain.
 */
const NUMBER_MAX = 2n ** 63n - 1n;

/** What has a number at or below the stored ones was read by an earlier call. */
async function isTokenInUse(
  db: Db,
  { chain, token, unused_intent: intent, unused_movement: movement }: ServedToken,
): Promise<boolean> {
  const isLater = sql`intent.seq > ${intent ?? -1n}::int8 and intent.seq <= ${NUMBER_MAX}::int8`;
  const isOn = sql`namespace || ':' || reference >= ${chain} and namespace || ':' || reference <= ${chain}`;
  const { rows } = await sql<{ needed: boolean }>`
    select exists (select from intent
        where ${isLater} and payout_namespace || ':' || payout_chain_reference = ${chain} and payout_token = ${token})
      or exists (select from route_set cross join json_array_elements(route_set.routes) as route
        where 'eip155:' || (route ->> 'chainId') = ${chain} and route ->> 'token' = ${token}
          and exists (select from intent where ${isLater} and intent.route_set = route_set.id))
      or exists (select from route_set cross join json_array_elements(route_set.hops) as hop
        where hop ->> 'chain' = ${chain} and hop ->> 'mint' = ${token}
          and exists (select from intent where ${isLater} and intent.route_set = route_set.id and intent.hop_recovery is not null))
      or exists (select from source_inbox where ${isOn} and token in ('', ${token}))
      or exists (select from movement where id > ${movement ?? -1n}::int8 and id <= ${NUMBER_MAX}::int8
        and chain = ${chain} and token = ${token})
      as needed`.execute(db.root);
  return rows[0]?.needed === true;
}
