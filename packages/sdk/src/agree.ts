import type { PayoutCheck, ShownPayment } from "./types.ts";

type Inbox = ShownPayment["inboxes"][number];

/**
 * Whether no address is refused, and there is one. The reason of a refusal stays on the check, for whoever asks why.
 */
export function agree(
  check: PayoutCheck,
  inboxes: readonly Inbox[],
  refusalOf: (inbox: Inbox) => string | undefined,
): boolean {
  check.reason = inboxes.length === 0 ? "no_address" : undefined;
  for (const inbox of inboxes) check.reason ??= refusalOf(inbox);
  return check.reason === undefined;
}
