// Texts of a file, a chain or a service are shown to a person. Control characters could erase a line of a terminal or
// write a false one.

/** Control characters, line separators, and marks that are not seen or turn the direction of a text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** One line without control characters. */
export function toPrintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, " ");
}

const INTENT_ID = /^pi_\w{1,64}$/;

/** An id of an intent; undefined for anything of another form. */
export function parseIntentId(value: unknown): string | undefined {
  return typeof value === "string" && INTENT_ID.test(value) ? value : undefined;
}
