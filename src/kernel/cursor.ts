import { createHmac, timingSafeEqual } from "node:crypto";

// A cursor marks a position in one owner's list. Only this installation can create or read one: a readable sequence
// would reveal the volume of the whole installation. The first 16 bytes are an HMAC over list, owner and sequence. The
// other 8 are the sequence, XORed with a mask derived from the HMAC.

const SEQUENCE_BYTES = 8;
const TAG_BYTES = 16;

export type CursorScope = { secret: Uint8Array; list: string; owner: string };

export function encodeCursor(sequence: bigint, context: CursorScope): string {
  const encoded = Buffer.alloc(SEQUENCE_BYTES);
  encoded.writeBigUInt64BE(sequence);
  const tag = computeTag(encoded, context);
  return Buffer.concat([tag, applyMask(encoded, tag, context)]).toString("base64url");
}

/** Returns the sequence; undefined when the text is not a cursor of this list and this owner. */
export function decodeCursor(text: string, context: CursorScope): bigint | undefined {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== SEQUENCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== text) return undefined;
  const tag = bytes.subarray(0, TAG_BYTES);
  const encoded = applyMask(bytes.subarray(TAG_BYTES), tag, context);
  if (!timingSafeEqual(tag, computeTag(encoded, context))) return undefined;
  return encoded.readBigUInt64BE();
}

function computeTag(encoded: Uint8Array, { secret, list, owner }: CursorScope): Uint8Array {
  return createHmac("sha256", secret)
    .update(`cursor\n${list}\n${owner}\n`)
    .update(encoded)
    .digest()
    .subarray(0, TAG_BYTES);
}

/** XORs `encoded` with the mask. Applying it twice restores the input. */
function applyMask(encoded: Uint8Array, tag: Uint8Array, { secret }: CursorScope): Buffer {
  const mask = createHmac("sha256", secret).update("cursor mask\n").update(tag).digest();
  return Buffer.from(encoded.map((byte, index) => byte ^ mask.readUInt8(index)));
}
