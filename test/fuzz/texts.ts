import type { Dice } from "./dice.ts";

// What programs and people send that nobody thought of: texts, numbers and whole JSON documents.

const NAUGHTY: readonly string[] = [
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

const NUMBERS: readonly string[] = [
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

export function anyText(dice: Dice): string {
  if (dice.once(3)) return dice.pick(NAUGHTY);
  const length = dice.below(dice.once(20) ? 2_000 : 24);
  return Array.from({ length }, () => String.fromCharCode(dice.below(dice.once(4) ? 65_536 : 128))).join("");
}

export function anyNumber(dice: Dice): string {
  return dice.once(3) ? String(dice.below(1_000_000)) : dice.pick(NUMBERS);
}

/** JSON, or nearly: now and then a comma, a bracket or a byte is wrong. */
export function anyJson(dice: Dice, depth = 0): string {
  switch (dice.below(depth > 6 ? 5 : 8)) {
    case 0:
      return anyNumber(dice);
    case 1:
    case 2:
      return quoted(dice);
    case 3:
      return dice.pick(["true", "false", "null"]);
    case 4:
      return dice.once(40) ? "[".repeat(5_000) : dice.pick(["[]", "{}"]);
    case 5:
      return `[${list(dice, () => anyJson(dice, depth + 1))}]`;
    default:
      return `{${list(dice, () => `${keyOf(dice)}:${anyJson(dice, depth + 1)}`)}}`;
  }
}

/** An object with the fields of our operations, each with a value that it may or may not take. */
export function anyBody(dice: Dice): string {
  if (dice.once(6)) return anyJson(dice);
  return `{${list(dice, () => `${JSON.stringify(dice.pick(FIELDS))}:${anyJson(dice, 3)}`)}}`;
}

function list(dice: Dice, make: () => string): string {
  const parts = Array.from({ length: dice.below(5) }, make);
  return parts.join(dice.once(60) ? ";" : ",");
}

function keyOf(dice: Dice): string {
  return dice.once(2) ? JSON.stringify(dice.pick(FIELDS)) : quoted(dice);
}

function quoted(dice: Dice): string {
  const text = anyText(dice);
  // Unescaped, what JSON does not allow in a text stands there as it is.
  return dice.once(8) ? `"${text}"` : JSON.stringify(text);
}
