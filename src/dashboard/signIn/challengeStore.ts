import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import type { Caip2, Namespace } from "../../kernel/caip.ts";

export type Challenge = {
  nonce: string;
  namespace: Namespace;
  wallet: string;
  /** Where the wallet may be a contract. */
  chain: Caip2 | null;
  createdAt: Date;
  expiresAt: Date;
};

export async function insertChallenge(db: Db, row: Challenge): Promise<void> {
  const { createdAt, expiresAt, ...columns } = row;
  await db.root
    .insertInto("sign_in_challenge")
    .values({ ...columns, created_at: createdAt, expires_at: expiresAt })
    .execute();
}

/** Uses a challenge up. Undefined when it is unknown, used or over: of two tries at once, one gets it. */
export async function takeChallenge(db: Db, nonce: string, now: Date): Promise<Challenge | undefined> {
  const { rows } = await sql<Challenge>`
    delete from sign_in_challenge where nonce = ${nonce} and expires_at > ${now}
    returning nonce, namespace, wallet, chain, created_at as "createdAt", expires_at as "expiresAt"`.execute(db.root);
  return rows[0];
}

export async function deleteOverChallenges(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rows } = await sql`
    delete from sign_in_challenge where nonce in (
      select nonce from sign_in_challenge where expires_at <= ${before} order by expires_at limit ${limit})
    returning 1`.execute(db.root);
  return rows.length;
}
