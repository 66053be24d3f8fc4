import type { Selectable } from "kysely";
import type { PrimedAccountStatus, PrimedAccountTable } from "./primingTables.ts";
import { addMs, DAY_MS } from "../kernel/clock.ts";

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
export const LEFT_OPEN = "left_open";

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
