import { invalid } from "./fields.ts";

export const REFERENCE_CHARACTERS_MAX = 200;

/** Control characters, line and paragraph separators, and the marks that make a text read in another order than it is written. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** A merchant's own reference, on create and as the list's filter. */
export function checkReference(reference: string): string {
  if (UNPRINTABLE.test(reference)) throw invalid("merchantReference", "must have printable characters only");
  return reference;
}
