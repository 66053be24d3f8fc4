/** A JSON string, or a comment from // to the end of its line. */
const STRING_OR_COMMENT = /"(?:\\.|[^"\\\n])*"?|\/\/[^\n]*/g;

/**
 * Replaces `//` comments of a JSON text with spaces, so that a position in the result is the same position in the text.
 */
export function stripComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, (match) => (match.startsWith("//") ? " ".repeat(match.length) : match));
}
