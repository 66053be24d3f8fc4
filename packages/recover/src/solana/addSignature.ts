import { encodeKey } from "@tributary/inbox/solana/keys";
import type { SolanaSigner } from "./sendSolanaTransaction.ts";

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const HEADER_BYTES = 3;
/** Set in the first byte of a message that is not of the legacy version. */
const VERSION_FLAG = 0x80;

/**
 * Adds the signature of one more signer to a transaction that a wallet signed. It signs what the wallet returned,
 * because wallets may add instructions of their own. Throws an Error when the transaction does not ask for that signer.
 */
export function addSignature(transaction: Uint8Array, signer: SolanaSigner): Uint8Array {
  const [signatures = 0] = transaction;
  const message = transaction.slice(1 + signatures * SIGNATURE_BYTES);
  const start = (message[0] ?? 0) >= VERSION_FLAG ? 1 : 0;
  // A transaction has room for fewer keys than would need a second byte of length.
  const firstKey = start + HEADER_BYTES + 1;
  const keyAt = (index: number) => message.slice(firstKey + index * KEY_BYTES, firstKey + (index + 1) * KEY_BYTES);
  const index = Array.from({ length: signatures }, (_, position) => position).find((position) => {
    const key = keyAt(position);
    return key.length === KEY_BYTES && encodeKey(key) === signer.address;
  });
  if (index === undefined) throw new Error("the wallet returned a transaction that was not asked for");
  const signed = transaction.slice();
  signed.set(signer.sign(message), 1 + index * SIGNATURE_BYTES);
  return signed;
}
