import { encodeKey } from "@tributary/inbox/solana/keys";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "./fixtures.ts";
import { findTokenAccount } from "./instructions.ts";
import { signMessage } from "./keypairs.ts";
import type { LocalSolana } from "./startLocalSolana.ts";

/** The payer of the local chain as a wallet with one account, which confirms every transaction without asking. */
export type PayerWallet = {
  readonly address: string;
  /**
   * Signs a transaction whose only signer is the payer. Resolves with the signed bytes. Throws an Error for any other.
   */
  sign(transaction: Uint8Array): Uint8Array;
  /** What it holds of the first token, in smallest units. */
  balance(): { symbol: string; decimals: number; units: bigint };
  /** Adds 1,000 of the first token. */
  addMoney(): void;
};

const GIFT_TOKENS = 1_000n;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** The header of a message without a version, and the number of its accounts, which is below 128. */
const MESSAGE_START_BYTES = 4;

export function createPayerWallet({ control }: Pick<LocalSolana, "control">): PayerWallet {
  const { payer } = SOLANA_ACCOUNTS;
  const { symbol, address: mint, decimals } = LOCAL_MINTS.USDC;
  return {
    address: payer.address,
    sign(transaction) {
      const message = transaction.slice(1 + SIGNATURE_BYTES);
      const feePayer = message.slice(MESSAGE_START_BYTES, MESSAGE_START_BYTES + KEY_BYTES);
      const isOurs = transaction[0] === 1 && feePayer.length === KEY_BYTES && encodeKey(feePayer) === payer.address;
      if (!isOurs) throw new Error("This wallet signs for its own account alone.");
      const signed = transaction.slice();
      signed.set(signMessage(payer, message), 1);
      return signed;
    },
    balance: () => ({ symbol, decimals, units: control.units(findTokenAccount({ owner: payer.address, mint })) }),
    addMoney() {
      control.mintTokens({ mint, owner: payer.address, units: GIFT_TOKENS * 10n ** BigInt(decimals) });
    },
  };
}
