import { zeroAddress, type Hex, type Terms } from "@tributary/inbox/terms";
import type { Namespace } from "../kernel/caip.ts";

/** The columns of an intent that its inbox address commits to. */
export type InboxTermsColumns = {
  readonly payout_namespace: Namespace;
  readonly payout_chain_reference: string;
  readonly payout_wallet: string;
  readonly payout_token: string;
  readonly fee_recipient: string;
  readonly fee_bps: number;
  readonly recovery: string;
  readonly recover_after: bigint;
  readonly routes_root: string;
  readonly inbox_salt: string;
};

/** The terms that determine an inbox address. For a payout outside EVM the settle fields are zero, so the inbox can only bridge. */
export function toInboxTerms(intent: InboxTermsColumns): Terms {
  const settlesOnEvm = intent.payout_namespace === "eip155";
  return {
    salt: asHex(intent.inbox_salt),
    settleChainId: settlesOnEvm ? BigInt(intent.payout_chain_reference) : 0n,
    settleToken: settlesOnEvm ? asHex(intent.payout_token) : zeroAddress,
    payout: settlesOnEvm ? asHex(intent.payout_wallet) : zeroAddress,
    feeRecipient: asHex(intent.fee_recipient),
    feeBps: intent.fee_bps,
    recovery: asHex(intent.recovery),
    recoverAfter: Number(intent.recover_after),
    routesRoot: asHex(intent.routes_root),
  };
}

// This service wrote the columns, and the encoder throws on any text that is not hexadecimal.
function asHex(text: string): Hex {
  return text as Hex;
}
