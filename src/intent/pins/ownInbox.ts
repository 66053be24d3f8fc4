import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { solanaTermsToWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import type { Terms } from "@tributary/inbox/terms";
import { toSolanaPayTerms } from "../../chain/solana/intentInbox.ts";
import { findTokenAccount } from "../../chain/solana/tokenAccount.ts";
import type { SettleItem } from "../../chain/sender.ts";
import { assert } from "../../kernel/assert.ts";
import { toInboxTerms } from "../inboxTerms.ts";
import type { IntentRow } from "../store.ts";

// What follows from the pins of an intent for its own inbox, on the payout's kind of chain.

type InboxIntent = Omit<IntentRow, "seq">;

/** An inbox that settles, as its chain's sender takes it. */
export type OwnItem = Omit<SettleItem, "terms"> & { terms: Terms | SolanaPayTerms };

/** The intent's own inbox as a sender settles it, in one token. */
export function toSettleItem(intent: InboxIntent, token: string): OwnItem {
  const { inbox_address: inbox, inbox_hub: hub } = intent;
  if (intent.payout_namespace === "eip155") return { inbox, token, hub, terms: toInboxTerms(intent) };
  return { inbox, token, hub, terms: toSolanaPayTerms(intent), tokenProgram: intent.inbox_implementation };
}

/** What stands beside the address of an inbox on Solana: where its tokens are, and what decides the address. */
export type TokenAccountRecord = {
  tokenAccount?: string | undefined;
  mint?: string | undefined;
  program?: string | undefined;
};

/** Empty for a payout on an EVM chain, where the address itself holds the tokens. */
export function tokenAccountRecord(intent: InboxIntent): TokenAccountRecord {
  if (intent.payout_namespace === "eip155") return {};
  const { inbox_address: owner, payout_token: mint, inbox_implementation: tokenProgram, inbox_hub: program } = intent;
  return { tokenAccount: findTokenAccount({ owner, mint, tokenProgram }), mint, program };
}

export type SolanaPayWireTerms = Extract<SolanaInboxTerms, { kind: "pay" }>;

/** The terms of the intent's own inbox on Solana; undefined for a payout on an EVM chain. */
export function toSolanaWireTerms(intent: InboxIntent): SolanaPayWireTerms | undefined {
  if (intent.payout_namespace === "eip155") return undefined;
  const programs = { program: intent.inbox_hub, tokenProgram: intent.inbox_implementation };
  const wire = solanaTermsToWire(toSolanaPayTerms(intent), programs);
  assert(wire.kind === "pay", "the terms of a payout have another kind on the wire");
  return wire;
}
