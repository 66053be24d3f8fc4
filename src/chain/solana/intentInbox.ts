import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { tokenProgram as legacyTokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import type { Hex } from "@tributary/inbox/terms";
import type { SolanaChainConfig } from "../../config/config.ts";
import { findTokenAccount } from "./tokenAccount.ts";

// An intent's inbox on Solana: what the intent pins about it, and what follows from the pins.

/** The columns of an intent that its inbox address commits to. */
export type SolanaPins = {
  readonly payout_wallet: string;
  readonly payout_token: string;
  /** The platform's wallet. The fee goes to its token account of the mint. */
  readonly fee_recipient: string;
  readonly fee_bps: number;
  readonly recovery: string;
  readonly recover_after: bigint;
  readonly rent_recipient: string | null;
  readonly inbox_salt: string;
  /** The inbox program. */
  readonly inbox_hub: string;
  /** The token program of the mint. */
  readonly inbox_implementation: string;
};

/** What a new intent pins of the service's own addresses. */
export function solanaServicePins(
  chain: SolanaChainConfig,
  mint: string,
): Pick<SolanaPins, "fee_recipient" | "rent_recipient" | "inbox_hub" | "inbox_implementation"> {
  const token = chain.tokens.find(({ address }) => address === mint);
  return {
    fee_recipient: chain.feeRecipient,
    rent_recipient: chain.feePayer,
    inbox_hub: chain.program,
    inbox_implementation: token?.tokenProgram ?? legacyTokenProgram,
  };
}

export function toSolanaPayTerms(pins: SolanaPins): SolanaPayTerms {
  const { payout_wallet: payout, payout_token: mint, inbox_implementation: tokenProgram } = pins;
  return {
    kind: "pay",
    salt: pins.inbox_salt as Hex,
    mint,
    payout,
    feeAccount: findTokenAccount({ owner: pins.fee_recipient, mint, tokenProgram }),
    feeBps: pins.fee_bps,
    rentRecipient: pins.rent_recipient ?? "",
    recovery: pins.recovery,
    recoverAfter: Number(pins.recover_after),
  };
}

export function computeSolanaInboxAddress(pins: SolanaPins): string {
  const programs = { program: pins.inbox_hub, tokenProgram: pins.inbox_implementation };
  return computeSolanaInbox(toSolanaPayTerms(pins), programs).address;
}
