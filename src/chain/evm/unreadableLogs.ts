import { ProviderFailed } from "../reader.ts";
import type { UnreadableEntry } from "../unreadable/unreadableEntry.ts";

/**
 * A log that cannot be parsed, by its transaction and its token. Without a readable transaction the block's number
 * stands for it, and without a readable contract all tokens that were asked for.
 */
export type LogOfToken =
  | { chainTx: string; tokens: readonly string[] }
  | { blockNumber: bigint; tokens: readonly string[] };

const SEPARATOR = "/log/";
const BLOCK = "block ";
/** Hex in a text: addresses alone, and words whose last twenty bytes may be one. */
const HEX = /0x([0-9a-f]{40,})/g;
const [ADDRESS_LENGTH, WORD_LENGTH] = [40, 64] as const;
/** Addresses of one entry. */
const NAMES_MAX = 4_096;

export function logKey(log: LogOfToken): string {
  const of = "chainTx" in log ? log.chainTx : `${BLOCK}${log.blockNumber}`;
  return `${of}${SEPARATOR}${log.tokens.join(",")}`;
}

export function readLogKey(key: string): LogOfToken | undefined {
  const [of, tokenList] = key.split(SEPARATOR);
  if (of === undefined || tokenList === undefined) return undefined;
  const tokens = tokenList.split(",");
  return of.startsWith(BLOCK) ? { blockNumber: BigInt(of.slice(BLOCK.length)), tokens } : { chainTx: of, tokens };
}

/** The addresses that a raw answer may name. */
export function namesIn(answer: unknown): string[] {
  const names = new Set<string>();
  for (const [, hex = ""] of (JSON.stringify(answer) ?? "").toLowerCase().matchAll(HEX)) {
    if (hex.length === ADDRESS_LENGTH) names.add(`0x${hex}`);
    for (let end = WORD_LENGTH; end <= hex.length; end += WORD_LENGTH)
      names.add(`0x${hex.slice(end - ADDRESS_LENGTH, end)}`);
    if (names.size >= NAMES_MAX) break;
  }
  return [...names];
}

/** Gathers entries, each key once, and throws them together. */
export function collectUnreadable(): { add: (entry: UnreadableEntry) => void; throwIfAny: () => void } {
  const entries = new Map<string, UnreadableEntry>();
  return {
    add: (entry) => void entries.set(entry.key, entry),
    throwIfAny: () => {
      const [first] = entries.values();
      if (first === undefined) return;
      throw new ProviderFailed("unreadable", `${entries.size} entries cannot be parsed: ${first.reason}`, {
        unreadable: [...entries.values()],
      });
    },
  };
}
