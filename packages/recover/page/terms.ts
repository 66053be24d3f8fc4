import { checksumAddress } from "@tributary/inbox/checksum";
import { formatDay } from "../src/format.ts";
import { NATIVE_TOKEN } from "../src/planRecovery.ts";
import type { VerifiedInbox } from "../src/parseInboxes.ts";
import type { ParsedIntents } from "../src/parseIntents.ts";
import { byId, createElement, setMessage } from "./dom.ts";
import { listSolanaTerms } from "./solana/solanaStep.ts";

// The page's first step: what the file says, and what of it was left out.

export function showTerms({ onEvm, onSolana, refused }: ParsedIntents): void {
  const count = onEvm.length + onSolana.length;
  if (count === 0) return;
  const recomputed =
    count === 1 ? "The address was recomputed from the terms." : `${count} inboxes, each recomputed from its terms.`;
  const leftOut = refused.length === 0 ? "" : ` ${refused.length} of the file left out. ${refused[0]}`;
  setMessage("intents-status", `${recomputed}${leftOut}`, leftOut === "" ? "good" : "bad");
  // The two inboxes of one intent are shown too.
  const [inbox, solanaInbox] = [onEvm[0], onSolana[0]];
  if (onEvm.length > 1 || onSolana.length > 1) return;
  byId("inboxes").replaceChildren(
    ...renderTerms(nameIntent(inbox?.intentId ?? solanaInbox?.intentId)),
    ...renderTerms(inbox === undefined ? [] : listTerms(inbox)),
    ...renderTerms(solanaInbox === undefined ? [] : listSolanaTerms(solanaInbox)),
  );
}

function renderTerms(rows: readonly (readonly [name: string, value: string])[]): HTMLElement[] {
  return rows.flatMap(([name, value]) => [createElement("dt", name), createElement("dd", value)]);
}

function nameIntent(intentId: string | undefined): [string, string][] {
  return intentId === undefined ? [] : [["Intent", intentId]];
}

function listTerms({ address, terms }: VerifiedInbox): [string, string][] {
  return [
    ["Inbox", checksumAddress(address)],
    ["Pays", checksumAddress(terms.payout)],
    ["In token", `${checksumAddress(terms.settleToken)} on chain ${terms.settleChainId}`],
    ["Fee", `${(terms.feeBps / 100).toFixed(2)} % to ${checksumAddress(terms.feeRecipient)}`],
    ["Recovery", terms.recovery === NATIVE_TOKEN ? "none" : checksumAddress(terms.recovery)],
    ["Everything from", formatDay(terms.recoverAfter)],
  ];
}
