import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import type { Caip2, Namespace } from "../kernel/caip.ts";
import type { MemberRole, MemberTable } from "./dashboardTables.ts";

export type MemberRow = Selectable<MemberTable>;

/** Members of one account are so few that every list shows all. */
export const MEMBERS_MAX = 100;

/** False when the wallet is a member of the account already. */
export async function insertMember(tx: Tx, row: Omit<MemberRow, "removed_at">): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("member")
    .values({ ...row, removed_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The members of an account, oldest first. */
export async function listMemberRows(on: Db["root"] | Tx, accountId: string): Promise<MemberRow[]> {
  return on
    .selectFrom("member")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("removed_at", "is", null)
    .orderBy("created_at")
    .orderBy("id")
    .limit(MEMBERS_MAX)
    .execute();
}

/** An account that a wallet is a member of. */
export type Membership = {
  memberId: string;
  accountId: string;
  accountName: string;
  role: MemberRole;
  /** Where the wallet is a contract; null for one with a private key. */
  chain: Caip2 | null;
};

/** A wallet's memberships in accounts that are not suspended, oldest first. */
export async function findMemberships(
  db: Db,
  { namespace, wallet }: { namespace: Namespace; wallet: string },
): Promise<Membership[]> {
  const { rows } = await sql<Membership>`
    select member.id as "memberId", member.account_id as "accountId", account.name as "accountName", member.role,
      member.chain
    from member join account on account.id = member.account_id
    where member.namespace = ${namespace} and member.wallet = ${wallet} and member.removed_at is null
      and account.status = 'active'
    order by member.created_at, member.id limit ${MEMBERS_MAX}`.execute(db.root);
  return rows;
}

/** False when there is no such member. */
export async function updateRemoved(tx: Tx, member: { accountId: string; id: string; at: Date }): Promise<boolean> {
  const { rows } = await sql`
    update member set removed_at = ${member.at}
    where account_id = ${member.accountId} and id = ${member.id} and removed_at is null returning 1`.execute(tx);
  return rows.length > 0;
}

/** False when there is no such member. */
export async function updateRole(
  tx: Tx,
  member: { accountId: string; id: string; role: MemberRole },
): Promise<boolean> {
  const { rows } = await sql`
    update member set role = ${member.role}
    where account_id = ${member.accountId} and id = ${member.id} and removed_at is null returning 1`.execute(tx);
  return rows.length > 0;
}
