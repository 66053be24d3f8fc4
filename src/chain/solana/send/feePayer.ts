import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { decodeBase58, encodeBase58 } from "@tributary/inbox/solana/base58";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { encodeMessage, encodeTransaction, type SolanaMessage } from "@tributary/inbox/solana/message";
import { assert } from "../../../kernel/assert.ts";
import type { SignedBytes } from "../../outgoing/outgoingStore.ts";
import { assertPermittedBurn, type BurnRules } from "../bridge/permittedBurn.ts";
import { assertPermittedReceipt, type ReceiptRules } from "../bridge/permittedReceipt.ts";
import { assertPermittedReclaim, type ReclaimRules } from "../bridge/permittedReclaim.ts";
import { assertPermittedOpening, type OpeningRules } from "../priming/permittedOpening.ts";
import { assertPermitted, type SigningRules } from "./permittedMessage.ts";

type Unsigned = Pick<SolanaMessage, "blockhash" | "instructions">;

/** Signs settlements and the creation of inboxes' token accounts, and pays for them. It can move no deposit. */
export interface FeePayer {
  readonly address: string;
  /**
   * Throws an Error for a message with any other instruction than those of a settlement, a RangeError for one that is
   * too long.
   */
  sign(unsigned: Unsigned, rules: Omit<SigningRules, "feePayer">): SignedBytes;
  /**
   * Throws an Error for a message that does anything but create the token accounts of these inboxes, a RangeError for
   * one that is too long.
   */
  signOpening(unsigned: Unsigned, rules: Omit<OpeningRules, "feePayer">): SignedBytes;
  /**
   * Throws an Error for a message that does anything but burn one inbox, a RangeError for one that is too long. `event`
   * signs too.
   */
  signBurn(unsigned: Unsigned, rules: Omit<BurnRules, "feePayer" | "event">, event: EventKey): SignedBytes;
  /** Throws an Error for a message that does anything but receive one burn for one inbox by Circle's programs. */
  signReceipt(unsigned: Unsigned, rules: Omit<ReceiptRules, "feePayer">): SignedBytes;
  /** Throws an Error for a message that does anything but return the rent of one burn's message. */
  signReclaim(unsigned: Unsigned, rules: Omit<ReclaimRules, "feePayer">): SignedBytes;
  /** Throws an Error for a message that does anything but close one empty inbox whose deposits are burned. */
  signClose(unsigned: Unsigned, rules: Omit<BurnRules, "feePayer" | "event">): SignedBytes;
}

/** The key of one message's account. */
export type EventKey = { readonly address: string; sign(message: Uint8Array): Uint8Array<ArrayBuffer> };

const SECRET_BYTES = 32;
/** The DER bytes before the secret of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** A key for the account of one message, from 32 random bytes. */
export function openEventKey(seed: Uint8Array): EventKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const address = encodeKey(new Uint8Array(Buffer.from(x, "base64url")));
  return { address, sign: (message) => new Uint8Array(sign(null, message, key)) };
}

/**
 * Opens the account of a key pair: 64 bytes in base58. The key stays in this closure, out of any field that could be
 * logged.
 */
export function openFeePayer(keyPair: string): FeePayer {
  assert(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(keyPair), "a fee payer's key is 64 bytes in base58");
  const pair = decodeBase58(keyPair);
  assert(pair?.length === 2 * SECRET_BYTES, "a fee payer's key is 64 bytes in base58");
  const der = Buffer.concat([PKCS8_PREFIX, pair.subarray(0, SECRET_BYTES)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const address = encodeKey(pair.subarray(SECRET_BYTES));
  const signPermitted = (
    unsigned: Unsigned,
    assertIsPermitted: (message: Uint8Array) => void,
    event?: EventKey,
  ): SignedBytes => {
    const message = encodeMessage({ ...unsigned, feePayer: address });
    assertIsPermitted(message.bytes);
    const signature = new Uint8Array(sign(null, message.bytes, key));
    const signatures = new Map([[address, signature]]);
    if (event !== undefined) signatures.set(event.address, event.sign(message.bytes));
    const transaction = encodeTransaction(message, signatures);
    return { raw: Buffer.from(transaction).toString("base64"), chainTx: encodeBase58(signature) };
  };
  return {
    address,
    sign: (unsigned, rules) =>
      signPermitted(unsigned, (message) => assertPermitted(message, { ...rules, feePayer: address })),
    signOpening: (unsigned, rules) =>
      signPermitted(unsigned, (message) => assertPermittedOpening(message, { ...rules, feePayer: address })),
    signBurn: (unsigned, rules, event) =>
      signPermitted(
        unsigned,
        (message) => assertPermittedBurn(message, { ...rules, feePayer: address, event: event.address }),
        event,
      ),
    signReceipt: (unsigned, rules) =>
      signPermitted(unsigned, (message) => assertPermittedReceipt(message, { ...rules, feePayer: address })),
    signReclaim: (unsigned, rules) =>
      signPermitted(unsigned, (message) => assertPermittedReclaim(message, { ...rules, feePayer: address })),
    signClose: (unsigned, rules) =>
      signPermitted(unsigned, (message) =>
        assertPermittedBurn(message, { ...rules, feePayer: address, event: undefined }),
      ),
  };
}

/** The account in a process that reads no key. It has an address and signs nothing. */
export function openForeignPayer(address: string): FeePayer {
  const reject = () => {
    throw new Error("a process without the role settle signs nothing");
  };
  return {
    address,
    sign: reject,
    signOpening: reject,
    signBurn: reject,
    signReceipt: reject,
    signReclaim: reject,
    signClose: reject,
  };
}
