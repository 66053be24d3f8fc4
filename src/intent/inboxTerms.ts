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
  /** Only of a payout elsewhere. */
  readonly hop_recovery?: string | null | undefined;
};

/**
 * The terms of the intent's inbox on EVM chains. For a payout elsewhere it can only bridge, by the routes: it settles
 * nothing, and the inbox of the payout's own chain takes the fee. Its recovery key rescues what no crossing takes.
 */
export function toInboxTerms(intent: InboxTermsColumns): Terms {
  const common = {
    salt: asHex(intent.inbox_salt),
    recoverAfter: Number(intent.recover_after),
    routesRoot: asHex(intent.routes_root),
  };
  if (intent.payout_namespace !== "eip155")
    return { ...common, ...BRIDGE_ONLY, recovery: asHex(intent.hop_recovery ?? zeroAddress) };
  return {
    ...common,
    settleChainId: BigInt(intent.payout_chain_reference),
    settleToken: asHex(intent.payout_token),
    payout: asHex(intent.payout_wallet),
    feeRecipient: asHex(intent.fee_recipient),
    feeBps: intent.fee_bps,
    recovery: asHex(intent.recovery),
  };
}

const BRIDGE_ONLY = {
  settleChainId: 0n,
  settleToken: zeroAddress,
  payout: zeroAddress,
  feeRecipient: zeroAddress,
  feeBps: 0,
} as const;

// This service wrote the columns, and the encoder throws on any text that is not hexadecimal.
function asHex(text: string): Hex {
  return text as Hex;
}
