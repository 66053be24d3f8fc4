import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../db/database.ts";
import { json } from "../db/parameters.ts";
import { addMs } from "../kernel/clock.ts";
import { Fault } from "../kernel/faults.ts";
import type { AuditEntryTable } from "./dashboardTables.ts";

export type AuditEntry = Selectable<AuditEntryTable>;

/** What stands in the audit log: `member.added`, for example. */
export type AuditAction =
  | "member.added"
  | "member.removed"
  | "member.role_changed"
  | "key.created"
  | "key.revoked"
  | "checkout.looks_changed"
  | "checkout.origins_changed"
  | "webhook_endpoint.created"
  | "webhook_endpoint.changed"
  | "webhook_endpoint.secret_renewed"
  | "webhook_endpoint.deleted"
  | "payout_change.proposed"
  | "payout_change.signed"
  | "payout_change.stopped"
  | "payout_change.applied";

export type NewAuditEntry = { accountId: string; at: Date; actor: string; action: AuditAction; details: object };

const DAY_MS = 86_400_000;
/** Changes of one key or member in 24 hours: its entries, and what they tell of, are permanent. */
export const CHANGES_PER_DAY = 200;
/** Ends what was made before, and protects: never refused. */
const ALWAYS_ALLOWED: ReadonlySet<AuditAction> = new Set([
  "member.removed",
  "key.revoked",
  "webhook_endpoint.deleted",
  "payout_change.stopped",
  "payout_change.applied",
]);

/**
 * In the transaction of the change itself. Details contain no secret. Throws rate_limited when the key or member made too
 * many changes.
 */
export async function appendAudit(tx: Tx, entry: NewAuditEntry): Promise<void> {
  const { accountId, at, actor, action, details } = entry;
  if (!ALWAYS_ALLOWED.has(action) && /^(key|member) /.test(actor)) await limitChanges(tx, entry);
  await sql`insert into audit_entry (account_id, at, actor, action, details)
    values (${accountId}, ${at}, ${actor}, ${action}, ${json(details)})`.execute(tx);
}

async function limitChanges(tx: Tx, { accountId, actor, at }: NewAuditEntry): Promise<void> {
  const { rows } = await sql<{ at: Date }>`
    select at from audit_entry where account_id = ${accountId} and actor = ${actor}
    order by number desc offset ${CHANGES_PER_DAY - 1} limit 1`.execute(tx);
  const waitMs = rows[0] === undefined ? 0 : addMs(rows[0].at, DAY_MS).getTime() - at.getTime();
  if (waitMs > 0)
    throw new Fault("rate_limited", {
      message: `One key or member makes at most ${CHANGES_PER_DAY} changes in 24 hours.`,
      retryAfterS: Math.ceil(waitMs / 1_000),
    });
}

/** An account's entries below a number, newest first. */
export async function listAudit(
  db: Db,
  { accountId, below, limit }: { accountId: string; below: bigint | undefined; limit: number },
): Promise<AuditEntry[]> {
  return db.root
    .selectFrom("audit_entry")
    .selectAll()
    .where("account_id", "=", accountId)
    .$if(below !== undefined, (select) => select.where("number", "<", below ?? 0n))
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
}

/** An entry as the API shows it. */
export type AuditRecord = {
  object: "audit_entry";
  /** Grows with each entry of the service. */
  number: number;
  at: string;
  actor: string;
  action: string;
  details: object;
};

export function auditRecord({ number, at, actor, action, details }: AuditEntry): AuditRecord {
  return {
    object: "audit_entry",
    number: Number(number),
    at: at.toISOString(),
    actor,
    action,
    details: details as object,
  };
}
