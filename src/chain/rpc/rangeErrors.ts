import type { RangeSuggestion } from "../reader.ts";

// Recognizes the ways in which nodes and providers refuse a log query as too large, and the range that they suggest.
// None has its own error code, and hardly two share a wording. The table in the test names the sources.

const RANGE_TOO_LARGE: readonly RegExp[] = [
  // By the size of the result.
  /query (?:returned|returns|exceeds?) (?:more than|too many|(?:the )?max(?:imum)? (?:results|logs))/i,
  /(?:log )?response size (?:should|is|exceed)|(?:response|content) (?:is )?too (?:large|big)/i,
  /logs (?:matched by query|count) exceeds?|too many (?:logs|results|blocks)/i,
  // By the number of blocks.
  /range (?:is )?(?:too (?:large|wide|high|big)|larger than|bigger than|greater than|exceeds?|limit|at most)/i,
  /range \d+ (?:exceeds|is (?:bigger|greater|larger) than)|range \S+ exceeds the (?:range|maximum)/i,
  /(?:exceed|max|maximum)\w* (?:allowed )?(?:rpc )?(?:block )?range|range threshold exceeded/i,
  /ranges? over [\d,.]+k? blocks|limited to [^.]*\brange|limited to [\d,.]+ blocks|up to an? [\d,.]+k? ?blocks? range/i,
  /blocks distance|too wide blocks range|requested more than [\d,.]+k? blocks|requested blocks is|at most [\d,.]+ blocks|smaller than size|limit the query to/i,
  // By the suggested remedy.
  /range should work|with this block range|retry with the range|(?:smaller|narrower|reduc\w+) (?:your |the |query )*(?:block )?range/i,
  // By the time it takes: the node is healthy, the query is too long.
  /query (?:timeout|timed out)|eth_getLogs request was canceled/i,
];

/** A number of blocks, such as 2000, 10,000 or 2K. */
const COUNT = String.raw`(\d[\d,.]{0,14}k?)`;

/** Each captures the provider's limit of blocks per query. */
const BLOCK_LIMITS: readonly RegExp[] = [
  `up to an? ${COUNT} ?blocks? range`,
  `limited to (?:an? |0 ?- ?)?${COUNT} (?:blocks?|range)`,
  `range \\d+ exceeds limit of ${COUNT}`,
  `range.*\\bmax(?:imum)?(?: block)?(?: range)?(?: allowed)?(?: is|:| =)? ${COUNT}`,
  `exceeds? (?:the )?max(?:imum)?(?: allowed)? block range:? ${COUNT}`,
  `exceeds the maximum of ${COUNT} blocks`,
  `block range (?:exceeds|greater than|at most) ${COUNT}`,
  `block range exceeds server limit, narrow your filter: ${COUNT}`,
  `ranges? over ${COUNT} blocks`,
  `blocks distance: ${COUNT}`,
  `range limit ${COUNT}`,
  `requested blocks is ${COUNT}`,
  `at most ${COUNT} blocks`,
  `allowed for your plan \\(\\d+ > ${COUNT}\\)`,
  `maximum is set to ${COUNT}`,
  `smaller than size ${COUNT}`,
].map((text) => new RegExp(text, "i"));

/** First and last block of the suggested range. */
const SUGGESTED_RANGES: readonly RegExp[] = [
  /\[\s*(0x[\da-f]{1,16}),\s*(0x[\da-f]{1,16})\s*\]/i,
  /the range (\d{1,18})-(\d{1,18})/i,
];

/** A larger number cannot be a range size. */
const BLOCKS_MAX = 1_000_000_000n;

export function isRangeError(words: string): boolean {
  return RANGE_TOO_LARGE.some((pattern) => pattern.test(words));
}

/**
 * The range that a refusal suggests, from its text or from `from` and `to` in its data; undefined when it suggests
 * none.
 */
export function parseRangeSuggestion(words: string, data: unknown): RangeSuggestion | undefined {
  const limit = BLOCK_LIMITS.map((pattern) => parseBlockCount(pattern.exec(words)?.[1])).find(
    (count) => count !== undefined,
  );
  const blocks = parseSuggestedRange(words) ?? parseRangeFromData(data);
  if (blocks === undefined) return limit === undefined ? undefined : { blocks: limit, isLimit: true };
  // The suggested range is short because of a limit on blocks or on results; the shorter of the two shows which.
  return { blocks, isLimit: limit === blocks };
}

function parseSuggestedRange(words: string): bigint | undefined {
  for (const pattern of SUGGESTED_RANGES) {
    const [, from, to] = pattern.exec(words) ?? [];
    if (from !== undefined && to !== undefined) return rangeLength(BigInt(from), BigInt(to));
  }
  return undefined;
}

function parseRangeFromData(data: unknown): bigint | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const from: unknown = Reflect.get(data, "from");
  const to: unknown = Reflect.get(data, "to");
  const isHex = (value: unknown): value is string => typeof value === "string" && /^0x[\da-f]{1,16}$/i.test(value);
  return isHex(from) && isHex(to) ? rangeLength(BigInt(from), BigInt(to)) : undefined;
}

function rangeLength(from: bigint, to: bigint): bigint | undefined {
  return to >= from && to - from < BLOCKS_MAX ? to - from + 1n : undefined;
}

function parseBlockCount(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const isThousands = /k$/i.test(text);
  const count = isThousands ? Math.trunc(Number.parseFloat(text) * 1_000) : Number(text.replaceAll(/[,.]/g, ""));
  return count > 0 && count <= BLOCKS_MAX ? BigInt(count) : undefined;
}
