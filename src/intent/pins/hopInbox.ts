import { computeSolanaInbox, type SolanaInbox } from "@tributary/inbox/solana/address";
import type { SolanaHopTerms } from "@tributary/inbox/solana/terms";
import { solanaTermsToWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import type { Hex } from "@tributary/inbox/terms";
import { computeInboxAddress } from "@tributary/inbox/address";
import { findHub } from "@tributary/inbox/hubs";
import type { Hop } from "../../catalog/hops.ts";
import type { SettleItem } from "../../chain/sender.ts";
import { assert } from "../../kernel/assert.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import { hopsOf, type PinnedRoute } from "../routes/routeSet.ts";
import type { IntentRow } from "../store.ts";
import { toInboxTerms } from "../inboxTerms.ts";
import { mintAccount } from "./mintAccount.ts";
import { toSettleItem, type TokenAccountRecord } from "./ownInbox.ts";

// The inboxes of an intent on the other kind of chains than its payout's. They can only burn, for its own inbox. On
// Solana there is one for each mint, whose terms name the recipient; on EVM chains one for all, whose routes do.

type HopIntent = Omit<IntentRow, "seq">;

function toHopTerms(intent: HopIntent, hop: Hop): SolanaHopTerms {
  assert(intent.hop_recovery !== null, `intent ${intent.id} pins no recovery key on Solana`);
  const { mint, messenger, minAmount, domain, routes, rentRecipient } = hop;
  return {
    kind: "hop",
    salt: intent.inbox_salt as Hex,
    mint,
    mintRecipient: mintAccount(intent),
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
  if (namespaceOf(chain) === "eip155") return toEvmItem(intent, token);
  const hop = findHop(routes, { chain, token });
  assert(hop, `intent ${intent.id} has no inbox for ${token} on ${chain}`);
  const { address: inbox, terms, program: hub, tokenProgram } = findHopInbox(intent, hop);
  return { inbox, token, hub, terms, tokenProgram };
}

/**
 * Where an address is an inbox of the intent that burns for its own one on the other kind of chains, whether it was
 * issued or not: its terms are public, so anybody can pay it. Undefined for any other address.
 */
export function findHopOf(
  intent: IntentRow,
  routes: readonly PinnedRoute[],
  address: string,
): { chain: Caip2; token: string } | undefined {
  if (intent.payout_namespace === "eip155") {
    const hop = hopsOf(routes).find((each) => findHopInbox(intent, each).address === address);
    return hop && { chain: hop.chain, token: hop.mint };
  }
  const [route] = routes;
  if (intent.hop_hub === null || route === undefined) return undefined;
  return toEvmItem(intent, "").inbox === address ? { chain: route.chain, token: "" } : undefined;
}

function toEvmItem(intent: IntentRow, token: string): SettleItem {
  const hub = intent.hop_hub === null ? undefined : findHub(intent.hop_hub);
  assert(hub, `intent ${intent.id} has no inbox on EVM chains`);
  const terms = toInboxTerms(intent);
  return { inbox: computeInboxAddress(terms, hub), token, hub: hub.address, terms };
}
