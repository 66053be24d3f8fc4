import { createHash, createPrivateKey, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { encodeKey } from "@tributary/inbox/solana/keys";

/** A key that can sign. `seed` is the private key as wallets and libraries take it: 32 bytes. */
export type Keypair = {
  readonly address: string;
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly key: KeyObject;
};

/** What precedes the 32 bytes of an Ed25519 key in PKCS 8. */
const PKCS8_HEADER = Buffer.from("302e020100300506032b657004220420", "hex");

export function createKeypair(seed: Uint8Array): Keypair {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: "der", type: "pkcs8" });
  const publicKey = new Uint8Array(Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url"));
  return { address: encodeKey(publicKey), seed, publicKey, key };
}

/** The same key for the same text. Everybody knows it: never send anything to it on a public cluster. */
export function deriveKeypair(text: string): Keypair {
  return createKeypair(new Uint8Array(createHash("sha256").update(`tributary dev world solana ${text}`).digest()));
}

export function signMessage({ key }: Keypair, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(null, message, key));
}
