import type { SeededRandom } from "./seededRandom.ts";

// What programs and people send that nobody thought of: texts, numbers and whole JSON documents.

const HOSTILE_STRINGS: readonly string[] = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "\u202etxt.exe",
  "\u200b",
  "\u2028",
  "ﷺ",
  "Z̮̞̠͙͔ͅḀ̗̞͈̻̗L̡̛",
  "👩‍👩‍👧‍👦",
  "🇺🇸🇷🇺",
  "ı",
  "ſ",
  "K",
  "'; drop table intent; --",
  "' or 1=1 --",
  "%s%n%x",
  "${7*7}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "javascript:alert(1)",
  "../../../etc/passwd",
  "\\\\server\\share",
  "__proto__",
  "constructor",
  "toString",
  "NaN",
  "Infinity",
  "null",
  "undefined",
  "true",
  "0x",
  "0X1111111111111111111111111111111111111111",
  "0x1111111111111111111111111111111111111111",
  "0x000000000000000000000000000000000000dEaD",
  "11111111111111111111111111111111",
  "eip155",
  "solana",
  "EIP155",
  "31337",
  "031337",
  "1e3",
  "9".repeat(400),
  "a".repeat(10_000),
  "😀".repeat(3_000),
];

const HOSTILE_NUMBERS: readonly string[] = [
  "0",
  "-0",
  "1",
  "-1",
  "5.0",
  "5.5",
  "1e21",
  "1E400",
  "1e-400",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "18446744073709551616",
  "0.1",
  "1e15",
  "123456789012345678901234567890",
  "01",
  "+1",
  ".5",
  "5.",
  "0x10",
  "1_000",
  "NaN",
  "-Infinity",
];

const FIELDS: readonly string[] = [
  "merchantReference",
  "metadata",
  "priceUnits",
  "oneTime",
  "payoutWallet",
  "payoutNamespace",
  "payoutChainReference",
  "payoutTokenAddress",
  "chainId",
  "namespace",
  "reference",
  "mint",
  "selection",
  "tokenAddress",
  "payoutWalet",
  "feeBps",
  "status",
  "inboxAddress",
];

export function generateText(dice: SeededRandom): string {
  if (dice.oneIn(3)) return dice.pick(HOSTILE_STRINGS);
  const length = dice.below(dice.oneIn(20) ? 2_000 : 24);
  return Array.from({ length }, () => String.fromCharCode(dice.below(dice.oneIn(4) ? 65_536 : 128))).join("");
}

export function generateNumber(dice: SeededRandom): string {
  return dice.oneIn(3) ? String(dice.below(1_000_000)) : dice.pick(HOSTILE_NUMBERS);
}

/** JSON, or nearly: now and then a comma, a bracket or a byte is wrong. */
export function generateJson(dice: SeededRandom, depth = 0): string {
  switch (dice.below(depth > 6 ? 5 : 8)) {
    case 0:
      return generateNumber(dice);
    case 1:
    case 2:
      return quoted(dice);
    case 3:
      return dice.pick(["true", "false", "null"]);
    case 4:
      return dice.oneIn(40) ? "[".repeat(5_000) : dice.pick(["[]", "{}"]);
    case 5:
      return `[${list(dice, () => generateJson(dice, depth + 1))}]`;
    default:
      return `{${list(dice, () => `${generateKey(dice)}:${generateJson(dice, depth + 1)}`)}}`;
  }
}

/** An object with the fields of our operations, each with a value that it may or may not take. */
export function generateBody(dice: SeededRandom): string {
  if (dice.oneIn(6)) return generateJson(dice);
  return `{${list(dice, () => `${JSON.stringify(dice.pick(FIELDS))}:${generateJson(dice, 3)}`)}}`;
}

function list(dice: SeededRandom, make: () => string): string {
  const parts = Array.from({ length: dice.below(5) }, make);
  return parts.join(dice.oneIn(60) ? ";" : ",");
}

function generateKey(dice: SeededRandom): string {
  return dice.oneIn(2) ? JSON.stringify(dice.pick(FIELDS)) : quoted(dice);
}

function quoted(dice: SeededRandom): string {
  const text = generateText(dice);
  // Unescaped, what JSON does not allow in a text stands there as it is.
  return dice.oneIn(8) ? `"${text}"` : JSON.stringify(text);
}
