import type { InboxAccount } from "../../chain/sender.ts";
import type { IntentRow } from "../../intent/store.ts";
import { addMs, CLOCK_DIFFERENCE_MS_MAX } from "../../kernel/clock.ts";
import { KEEP_MS_MAX, LEFT_OPEN, LOOK_MS, LOOK_MS_MAX, type PrimedAccount } from "../../priming/primedAccount.ts";

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
