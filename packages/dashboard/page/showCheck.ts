import type { InboxTerms } from "@tributary/inbox/wire";
import { checkInbox, type CheckOutcome } from "./checkInbox.ts";

const CLASSES = { matches: "ok-line js", differs: "note bad-note", otherPayout: "note bad-note", unknown: "small dim" };

/** Writes beside a payment's address what this browser computed. Does nothing on other pages. */
export function showCheck(): void {
  const place = document.getElementById("check");
  if (place === null) return;
  const checked = checkShown();
  const text = place.dataset[checked.outcome] ?? "";
  const fee = "feeBps" in checked ? String(checked.feeBps / 100) : "";
  const shown = text.replace("{fee}", fee);
  if (place.textContent !== shown) place.textContent = shown;
  place.className = CLASSES[checked.outcome];
}

function checkShown(): CheckOutcome {
  const textOf = (id: string) => document.getElementById(id)?.textContent ?? "";
  try {
    const record = JSON.parse(textOf("record")) as { inboxTerms: InboxTerms; payoutChainReference: string };
    return checkInbox({
      inboxAddress: textOf("inbox-address"),
      payoutWallet: textOf("payout-wallet"),
      cluster: record.payoutChainReference,
      terms: record.inboxTerms,
    });
  } catch {
    return { outcome: "differs" };
  }
}
