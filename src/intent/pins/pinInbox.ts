import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress, implementationAddress } from "@tributary/inbox/hub";
import { computeSolanaInboxAddress, solanaServicePins } from "../../chain/solana/intentInbox.ts";
import { isSolanaChainConfig, type Config } from "../../config/config.ts";
import { assert } from "../../kernel/assert.ts";
import { toInboxTerms } from "../inboxTerms.ts";
import { payoutChain } from "../payoutAsset.ts";
import type { IntentRow } from "../store.ts";

/** What decides an intent's inbox, beside the addresses of this service. */
type PayoutPins = Pick<
  IntentRow,
  | "payout_namespace"
  | "payout_chain_reference"
  | "payout_wallet"
  | "payout_token"
  | "fee_bps"
  | "recover_after"
  | "routes_root"
  | "inbox_salt"
>;

export type InboxPins = {
  fee_recipient: string;
  recovery: string;
  rent_recipient: string | null;
  inbox_hub: string;
  inbox_implementation: string;
  inbox_address: string;
};

/** The account's own keys for rescues, by kind of chain; null for the payout wallet. */
export type RecoveryKeys = { readonly recovery: string | null; readonly solana_recovery: string | null };

/**
 * Completes the pins of a new intent with the addresses of this service on the payout's chain, and computes its inbox.
 */
export function pinInbox(
  config: Pick<Config, "chains" | "feeRecipient">,
  payout: PayoutPins,
  keys: RecoveryKeys,
): InboxPins {
  if (payout.payout_namespace === "solana") {
    const chain = config.chains.filter(isSolanaChainConfig).find(({ caip2 }) => caip2 === payoutChain(payout));
    assert(chain, `${payoutChain(payout)} has a rail and is not watched`);
    const recovery = keys.solana_recovery ?? payout.payout_wallet;
    const pins = { ...solanaServicePins(chain, payout.payout_token), recovery };
    return { ...pins, inbox_address: computeSolanaInboxAddress({ ...payout, ...pins }) };
  }
  const pins = {
    fee_recipient: config.feeRecipient,
    recovery: keys.recovery ?? payout.payout_wallet,
    rent_recipient: null,
  };
  return {
    ...pins,
    inbox_hub: hubAddress,
    inbox_implementation: implementationAddress,
    inbox_address: computeInboxAddress(toInboxTerms({ ...payout, ...pins })),
  };
}
