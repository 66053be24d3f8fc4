import { sql } from "kysely";
import type { Db } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import { isInboxOnChain } from "../intent/inboxStore.ts";
import type { Caip2 } from "../kernel/caip.ts";

export type NamedInbox = { intentId: string; token: string };

/**
 * The inboxes of a chain among addresses in stored form, at most `limit`. `token` is empty for one that takes every
 * token.
 */
export async function listNamedInboxes(
  db: Db,
  { chain, addresses, limit }: { chain: Caip2; addresses: readonly string[]; limit: number },
): Promise<NamedInbox[]> {
  const { rows } = await sql<NamedInbox>`/* named: list_named_inboxes */
    select named.intent_id as "intentId", named.token
    from unnest(${array(addresses, "text")}) as asked (address) cross join lateral (
      select inbox.intent_id, inbox.token from inbox where inbox.address = asked.address and ${isInboxOnChain(chain)} offset 0
    ) as named limit ${limit}`.execute(db.root);
  return rows;
}

export type HintKey = { chain: Caip2; provider: string };

export async function saveProviderHint(db: Db, { chain, provider, at }: HintKey & { at: Date }): Promise<void> {
  await db.root
    .insertInto("provider_hint")
    .values({ chain, provider, last_at: at })
    .onConflict((conflict) => conflict.columns(["chain", "provider"]).doUpdateSet({ last_at: at }))
    .execute();
}

/** When each provider of each chain last spoke: a row for each that ever did. */
export async function listProviderHints(db: Db): Promise<{ chain: string; provider: string; last_at: Date }[]> {
  return db.root.selectFrom("provider_hint").selectAll().orderBy("chain").orderBy("provider").execute();
}
