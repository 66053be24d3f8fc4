import { decodeAbiParameters, hexToString, size, type Hex } from "viem";

const WORD_BYTES = 32;
const LENGTH_MAX = 32;

/** The text that a token's symbol() returned. Early tokens return a word instead of a string. Undefined for anything else. */
export function parseSymbol(answer: string): string | undefined {
  const hex = answer as Hex;
  const text = size(hex) === WORD_BYTES ? hexToString(hex, { size: WORD_BYTES }) : decodeText(hex);
  // The text of a stranger's contract is shown to the operator.
  return text !== undefined && /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(text) ? text.slice(0, LENGTH_MAX) : undefined;
}

function decodeText(hex: Hex): string | undefined {
  try {
    return decodeAbiParameters([{ type: "string" }], hex)[0];
  } catch {
    return undefined;
  }
}
