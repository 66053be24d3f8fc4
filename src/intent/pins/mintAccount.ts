import type { Hex } from "@tributary/inbox/terms";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { findTokenAccount } from "../../chain/solana/tokenAccount.ts";
import type { Namespace } from "../../kernel/caip.ts";

export type MintAccountKey = {
  readonly payout_namespace: Namespace;
  readonly inbox_address: string;
  readonly payout_token: string;
  readonly inbox_implementation: string;
};

/**
 * The account to which a bridge gives what an intent's inboxes burn elsewhere: the inbox, or its token account on
 * Solana.
 */
export function mintAddress(intent: MintAccountKey): string {
  const { payout_namespace: namespace, inbox_address: owner, payout_token: mint, inbox_implementation } = intent;
  return namespace === "eip155" ? owner : findTokenAccount({ owner, mint, tokenProgram: inbox_implementation });
}

/** The same as the 32 bytes of a bridge's message. */
export function mintAccount(intent: MintAccountKey): Hex {
  return toMessageAccount(mintAddress(intent)) as Hex;
}
