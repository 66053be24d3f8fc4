import type { Selectable } from "kysely";
import type { InboxAccount } from "../chain/sender.ts";
import type { PrimedAccountStatus, PrimedAccountTable } from "../db/roadSchema.ts";
import type { IntentRow } from "../intent/store.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX, DAY_MS } from "../kernel/clock.ts";

// An account is primed when the service creates it before the payer pays. Whatever happens to its money, the account
// costs what it locks until it is closed, so each row stays open until the chain shows no account any more.

export type PrimedAccount = Selectable<PrimedAccountTable>;

/** The longest time for which reports of views keep an unused account open. */
export const KEEP_MS_MAX = DAY_MS;
/** A payer waits no longer for the account; the next report of a view asks again. */
export const PLANNED_MS_MAX = 5 * 60_000;
/** Between two looks at an open account, and before another attempt after a failed one. */
export const LOOK_MS = 60_000;
/** What cannot be closed is looked at after half of the time since it could first, up to this. */
export const LOOK_MS_MAX = 3_600_000;
/** Why an account is looked at after its closing is final, until the look shows that it is gone. */
const LEFT_OPEN = "left_open";

/** What the road knows about the inbox of an open account. */
export type PrimedInbox = {
  readonly intent: IntentRow;
  /** Whether counted money or an open settlement is there: then the settlement closes the account. */
  readonly isSettling: boolean;
};

export type NextStep =
  | { readonly kind: "close" }
  /** The row needs nothing any more. */
  | { readonly kind: "end"; readonly reason: string }
  | { readonly kind: "look"; readonly at: Date; readonly reason: string | null };

/** Decides on an open account by what the final state of the chain shows. */
export function nextStep(
  row: Pick<PrimedAccount, "keep_until" | "reason">,
  { intent, isSettling }: PrimedInbox,
  { account, now }: { account: InboxAccount; now: Date },
): NextStep {
  if (account.units === undefined) return { kind: "end", reason: "closed" };
  if (intent.status === "active" && !isOver(row.keep_until, now))
    return { kind: "look", at: addMs(now, LOOK_MS), reason: null };
  // A transaction that left the account open would do so again, and costs a fee.
  if (row.reason === LEFT_OPEN) return { kind: "look", at: addMs(now, LOOK_MS_MAX), reason: null };
  const holdsMoney =
    isSettling || intent.pending_count > 0 || (account.units > 0n && account.units >= intent.minimum_units);
  // Money is left to the road, which decides when to settle it. Dust is not: it would keep the account open, and
  // closing pays it out.
  const reason = holdsMoney ? "holds_money" : account.obstacle;
  return reason === undefined ? { kind: "close" } : { kind: "look", at: nextLook(row.keep_until, now), reason };
}

/** A time that is further ahead than reports of views move it was stored before a clock stepped back. */
function isOver(keepUntil: Date, now: Date): boolean {
  return keepUntil <= now || keepUntil > addMs(now, KEEP_MS_MAX + CLOCK_DIFFERENCE_MS_MAX);
}

function nextLook(since: Date, now: Date): Date {
  const waitedMs = Math.max(0, now.getTime() - since.getTime());
  return addMs(now, Math.min(LOOK_MS_MAX, Math.max(LOOK_MS, waitedMs / 2)));
}

/**
 * The state of an account after its transaction closed. An expired creation is planned again; a closing is checked by a
 * look.
 */
export function afterTransaction(
  status: PrimedAccountStatus,
  transaction: "mined" | "reverted" | "lost",
  now: Date,
): Pick<PrimedAccount, "status" | "reason" | "retry_at" | "closed_at"> {
  const next = { reason: null, retry_at: now, closed_at: null };
  if (status === "closing") {
    if (transaction === "mined") return { ...next, status: "open", reason: LEFT_OPEN };
    return { ...next, status: "open", retry_at: addMs(now, transaction === "lost" ? LOOK_MS : LOOK_MS_MAX) };
  }
  if (transaction === "mined") return { ...next, status: "open", retry_at: addMs(now, LOOK_MS) };
  if (transaction === "lost") return { ...next, status: "planned" };
  return { ...next, status: "closed", reason: "reverted", closed_at: now };
}
