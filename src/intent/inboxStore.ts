import { sql, type RawBuilder, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { array } from "../db/parameters.ts";
import type { InboxTable } from "./intentTables.ts";
import { namespaceOf, referenceOf, type Caip2 } from "../kernel/caip.ts";

// Maps inbox addresses to intents. `create` inserts an intent's own inbox, this file inserts all others, and every
// station reads here.

/**
 * A condition for statements that read `inbox`: the row is valid on the chain. At most one row per address and chain
 * matches.
 */
export function isInboxOnChain(chain: Caip2): RawBuilder<boolean> {
  return sql<boolean>`(inbox.namespace = ${namespaceOf(chain)} and inbox.reference in ('', ${referenceOf(chain)}))`;
}

/**
 * The SQL that inserts an intent's own inbox, for use inside a larger statement. The values are placeholders such as
 * "$3". On EVM chains it is the same on every chain and takes every token; elsewhere it belongs to the payout's chain
 * and token.
 */
export function depositInboxInsertSql(intent: {
  sourceQuery: string;
  intentId: string;
  namespace: string;
  reference: string;
  token: string;
  address: string;
  createdAt: string;
}): string {
  const exceptOnEvm = (value: string) => `case when ${intent.namespace} = 'eip155' then '' else ${value} end`;
  return `insert into inbox (namespace, reference, address, intent_id, kind, token, created_at)
      select ${intent.namespace}, ${exceptOnEvm(intent.reference)}, ${intent.address}, ${intent.intentId}, 'deposit',
        ${exceptOnEvm(intent.token)}, ${intent.createdAt} from ${intent.sourceQuery}`;
}

export type SourceAddress = Pick<Selectable<InboxTable>, "address" | "intent_id" | "token"> & {
  chain: Caip2;
  at: Date;
};

/**
 * Assigns an address on one chain to an intent, unless the row exists already. On EVM chains it is the same on all.
 * Returns false and writes nothing when the address belongs to another intent.
 */
export async function insertSourceAddress(tx: Tx, source: SourceAddress): Promise<boolean> {
  const { chain, address, intent_id, token, at } = source;
  const owner = await findInboxOwner(tx, chain, address);
  if (owner !== undefined) return owner === intent_id;
  const namespace = namespaceOf(chain);
  const reference = namespace === "eip155" ? "" : referenceOf(chain);
  await tx
    .insertInto("inbox")
    .values({ namespace, reference, address, intent_id, kind: "source", token, created_at: at })
    .onConflict((conflict) => conflict.columns(["address", "namespace", "reference"]).doNothing())
    .execute();
  // A second statement also sees the row of a concurrent transaction that committed while the insert waited.
  return (await findInboxOwner(tx, chain, address)) === intent_id;
}

async function findInboxOwner(tx: Tx, chain: Caip2, address: string): Promise<string | undefined> {
  const { rows } = await sql<{ intentId: string }>`
    select intent_id as "intentId" from inbox where address = ${address} and ${isInboxOnChain(chain)}`.execute(tx);
  return rows[0]?.intentId;
}

/** Whether an address is an inbox on a chain. */
export async function isInboxAddress(db: Db["root"], chain: Caip2, address: string): Promise<boolean> {
  const { rows } = await sql`select from inbox where address = ${address} and ${isInboxOnChain(chain)}`.execute(db);
  return rows.length > 0;
}

/** Inbox addresses that accept a token on a chain, keyed by intent id. Intents without one are absent. */
export async function listInboxesOfIntents(
  db: Db,
  { chain, token, intentIds }: { chain: Caip2; token: string; intentIds: readonly string[] },
): Promise<Map<string, string>> {
  const { rows } = await sql<{ intentId: string; address: string }>`
    select intent_id as "intentId", address from inbox
    where intent_id = any(${array(intentIds, "text")}) and ${isInboxOnChain(chain)} and token in ('', ${token})`.execute(
    db.root,
  );
  return new Map(rows.map(({ intentId, address }) => [intentId, address]));
}

/** Every inbox address of an intent on a chain: one on EVM chains, one per token on Solana. */
export async function listInboxesOnChain(
  db: Db,
  { chain, intentId }: { chain: Caip2; intentId: string },
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from inbox where intent_id = ${intentId} and ${isInboxOnChain(chain)} order by seq`.execute(db.root);
  return rows.map(({ address }) => address);
}
