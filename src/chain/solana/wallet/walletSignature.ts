import { createPublicKey, verify } from "node:crypto";
import { parseKey } from "@tributary/inbox/solana/keys";
import type { WalletSignatures } from "../../addressFormat.ts";

/** What stands before the 32 bytes of an Ed25519 key in its DER form (RFC 8410). */
const DER_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** A wallet signs the bytes of a text, as `signMessage` of the Wallet Standard does. */
export const solanaSignatures: WalletSignatures = {
  async isSigned({ wallet, text, signature }) {
    const bytes = parseKey(wallet);
    if (bytes === undefined || signature.length !== 128) return false;
    const key = createPublicKey({ key: Buffer.concat([DER_PREFIX, bytes]), format: "der", type: "spki" });
    return verify(null, Buffer.from(text, "utf8"), key, Buffer.from(signature, "hex"));
  },
};
