import type { SeededRandom } from "./seededRandom.ts";

// Unusual texts, numbers and JSON documents.

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

export function generateText(random: SeededRandom): string {
  if (random.oneIn(3)) return random.pick(HOSTILE_STRINGS);
  const length = random.below(random.oneIn(20) ? 2_000 : 24);
  return Array.from({ length }, () => String.fromCharCode(random.below(random.oneIn(4) ? 65_536 : 128))).join("");
}

export function generateNumber(random: SeededRandom): string {
  return random.oneIn(3) ? String(random.below(1_000_000)) : random.pick(HOSTILE_NUMBERS);
}

/** Generates JSON, sometimes with a wrong comma, bracket or byte. */
export function generateJson(random: SeededRandom, depth = 0): string {
  switch (random.below(depth > 6 ? 5 : 8)) {
    case 0:
      return generateNumber(random);
    case 1:
    case 2:
      return quoted(random);
    case 3:
      return random.pick(["true", "false", "null"]);
    case 4:
      return random.oneIn(40) ? "[".repeat(5_000) : random.pick(["[]", "{}"]);
    case 5:
      return `[${list(random, () => generateJson(random, depth + 1))}]`;
    default:
      return `{${list(random, () => `${generateKey(random)}:${generateJson(random, depth + 1)}`)}}`;
  }
}

/** Generates an object with the operations' field names and random values. */
export function generateBody(random: SeededRandom): string {
  if (random.oneIn(6)) return generateJson(random);
  return `{${list(random, () => `${JSON.stringify(random.pick(FIELDS))}:${generateJson(random, 3)}`)}}`;
}

function list(random: SeededRandom, make: () => string): string {
  const parts = Array.from({ length: random.below(5) }, make);
  return parts.join(random.oneIn(60) ? ";" : ",");
}

function generateKey(random: SeededRandom): string {
  return random.oneIn(2) ? JSON.stringify(random.pick(FIELDS)) : quoted(random);
}

function quoted(random: SeededRandom): string {
  const text = generateText(random);
  // An unescaped text may be invalid JSON.
  return random.oneIn(8) ? `"${text}"` : JSON.stringify(text);
}
