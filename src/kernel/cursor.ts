import { createHmac, timingSafeEqual } from "node:crypto";

// A cursor is a place in somebody's list that only we can have written: base64url of the sequence (8 bytes, big-endian) and the
// first 16 bytes of an HMAC over it, the list's name and its owner.

const SEQUENCE_BYTES = 8;
const TAG_BYTES = 16;

export type CursorOwner = { secret: Uint8Array; list: string; owner: string };

export function encodeCursor(sequence: bigint, context: CursorOwner): string {
  const place = Buffer.alloc(SEQUENCE_BYTES);
  place.writeBigUInt64BE(sequence);
  return Buffer.concat([place, tagOf(place, context)]).toString("base64url");
}

/** Undefined when the text is not exactly a cursor that this list gave to this owner. */
export function decodeCursor(text: string, context: CursorOwner): bigint | undefined {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== SEQUENCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== text) return undefined;
  const place = bytes.subarray(0, SEQUENCE_BYTES);
  if (!timingSafeEqual(bytes.subarray(SEQUENCE_BYTES), tagOf(place, context))) return undefined;
  return place.readBigUInt64BE();
}

function tagOf(place: Uint8Array, { secret, list, owner }: CursorOwner): Uint8Array {
  return createHmac("sha256", secret)
    .update(`cursor\n${list}\n${owner}\n`)
    .update(place)
    .digest()
    .subarray(0, TAG_BYTES);
}
