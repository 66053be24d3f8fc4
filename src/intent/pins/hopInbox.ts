import { computeSolanaInbox, type SolanaInbox } from "@tributary/inbox/solana/address";
import type { SolanaHopTerms } from "@tributary/inbox/solana/terms";
import { solanaTermsToWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import type { Hex } from "@tributary/inbox/terms";
import { toMessageAccount } from "@tributary/recover/bridge/burnMessage";
import type { Hop } from "../../catalog/hops.ts";
import type { SettleItem } from "../../chain/sender.ts";
import { assert } from "../../kernel/assert.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import { hopsOf, type PinnedRoute } from "../routes/routeSet.ts";
import type { IntentRow } from "../store.ts";
import { toSettleItem, type TokenAccountRecord } from "./ownInbox.ts";

// An inbox on Solana of an intent that is paid out on an EVM chain. It can only burn, for the intent's own inbox there.

type HopIntent = Omit<IntentRow, "seq">;

function toHopTerms(intent: HopIntent, hop: Hop): SolanaHopTerms {
  assert(intent.hop_recovery !== null, `intent ${intent.id} pins no recovery key on Solana`);
  const { mint, messenger, minAmount, domain, routes, rentRecipient } = hop;
  return {
    kind: "hop",
    salt: intent.inbox_salt as Hex,
    mint,
    mintRecipient: toMessageAccount(intent.inbox_address) as Hex,
    messenger,
    minAmount,
    domain,
    routes,
    rentRecipient,
    recovery: intent.hop_recovery,
    recoverAfter: Number(intent.recover_after),
  };
}

function findHopInbox(intent: HopIntent, hop: Hop): SolanaInbox {
  const { program, tokenProgram } = hop;
  return computeSolanaInbox(toHopTerms(intent, hop), { program, tokenProgram });
}

export type SolanaHopWireTerms = Extract<SolanaInboxTerms, { kind: "hop" }>;

/** The terms of the inbox in the form in which anybody verifies them. */
export function toHopWireTerms(intent: HopIntent, hop: Hop): SolanaHopWireTerms {
  const { program, tokenProgram } = hop;
  const wire = solanaTermsToWire(toHopTerms(intent, hop), { program, tokenProgram });
  assert(wire.kind === "hop", "the terms of a crossing have another kind on the wire");
  return wire;
}

/** What stands beside the address of such an inbox. Empty without a hop. */
export function hopAccountRecord(intent: HopIntent, hop: Hop | undefined): TokenAccountRecord {
  if (hop === undefined) return {};
  const { tokenAccount, program } = findHopInbox(intent, hop);
  return { tokenAccount, mint: hop.mint, program };
}

/** The hop from a mint; undefined without one. */
export function findHop(
  routes: readonly PinnedRoute[],
  { chain, token }: { chain: Caip2; token: string },
): Hop | undefined {
  return hopsOf(routes).find((hop) => hop.chain === chain && hop.mint === token);
}

/**
 * The intent's inbox on a chain as that chain's sender takes it, in one token. `routes`: those of the intent. Throws an
 * InternalError for an inbox that it does not have.
 */
export function toItemOn(
  intent: IntentRow,
  routes: readonly PinnedRoute[],
  { chain, token }: { chain: Caip2; token: string },
): SettleItem {
  if (namespaceOf(chain) === intent.payout_namespace) return toSettleItem(intent, token);
  const hop = findHop(routes, { chain, token });
  assert(hop, `intent ${intent.id} has no inbox for ${token} on ${chain}`);
  const { address: inbox, terms, program: hub, tokenProgram } = findHopInbox(intent, hop);
  return { inbox, token, hub, terms, tokenProgram };
}
