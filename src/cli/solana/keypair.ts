import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { encodeKey } from "@tributary/inbox/solana/keys";
import type { SolanaSigner } from "@tributary/recover/solana/sendSolanaTransaction";
import { CommandError } from "../../operator/errors.ts";

/** The DER bytes before the 32 secret bytes of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SECRET_BYTES = 32;

/**
 * Reads a key file as Solana's own tools write it: a JSON list of 64 bytes, the secret and the public key. Throws
 * CommandError.
 */
export function readKeyFile(file: string): SolanaSigner {
  const bytes = readBytes(file);
  const seed = bytes.subarray(0, SECRET_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
  const signer = toSigner(key);
  if (signer.address !== encodeKey(bytes.subarray(SECRET_BYTES)))
    throw new CommandError(`${file}: the public key does not belong to the secret key.`);
  return signer;
}

/** A key for one transaction. */
export function createSigner(): SolanaSigner {
  return toSigner(generateKeyPairSync("ed25519").privateKey);
}

function toSigner(key: KeyObject): SolanaSigner {
  const publicKey = Buffer.from(key.export({ format: "jwk" }).x ?? publicKeyOf(key), "base64url");
  return {
    address: encodeKey(new Uint8Array(publicKey)),
    sign: (bytes) => new Uint8Array(sign(null, bytes, key)),
  };
}

function publicKeyOf(key: KeyObject): string {
  throw new CommandError(`The key is no Ed25519 key but ${key.asymmetricKeyType}.`);
}

function readBytes(file: string): Uint8Array {
  try {
    const list: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isKey = Array.isArray(list) && list.length === 2 * SECRET_BYTES && list.every(isByte);
    if (isKey) return Uint8Array.from(list as number[]);
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CommandError(`${file} must be a JSON list of 64 bytes, as solana-keygen writes it.`);
}

function isByte(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;
}
