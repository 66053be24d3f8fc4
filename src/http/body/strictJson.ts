import { Fault } from "../../kernel/faults.ts";

// Strict JSON, because amounts must not change silently. JSON.parse keeps the last of two equal keys, rounds a number
// that a double cannot hold, and accepts a lone surrogate. This parser refuses all three.

/** Deeper than any valid body. Each field has its own, lower limit. */
const DEPTH_MAX = 32;

const TOKEN_PATTERN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:,]|true|false|null/g;

/** Throws invalid_json, or invalid_request for valid JSON whose value cannot be kept exactly. */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  const value = parse(text);
  rejectLossyValues(text);
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Fault("invalid_json", { message: "The body is not valid UTF-8." });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault("invalid_json");
  }
}

type NestingLevel = { keys: Set<string> | undefined; isKeyNext: boolean };

/** Checks the tokens of a text that JSON.parse accepts. It uses a list of levels instead of recursion. */
function rejectLossyValues(text: string): void {
  const levels: NestingLevel[] = [];
  // The top-level field that contains the current token, for the fault's `param`.
  let field: string | undefined;
  for (const [token] of text.matchAll(TOKEN_PATTERN)) {
    const level = levels.at(-1);
    if (token === "{" || token === "[") {
      levels.push({ keys: token === "{" ? new Set() : undefined, isKeyNext: token === "{" });
      if (levels.length > DEPTH_MAX)
        throw jsonFault(field, "invalid_request", `is nested more than ${DEPTH_MAX} levels deep`);
    } else if (token === "}" || token === "]") levels.pop();
    else if (token === ",") {
      if (level?.keys !== undefined) level.isKeyNext = true;
    } else if (level?.keys !== undefined && level.isKeyNext) {
      level.isKeyNext = false;
      const key = parseStringToken(token, field);
      if (levels.length === 1) field = key;
      rejectInvalidKey(level.keys, key, field);
    } else if (token.startsWith('"')) parseStringToken(token, field);
    else if (/^[-\d]/.test(token) && !isExactNumber(token)) {
      throw jsonFault(
        field,
        "invalid_request",
        `contains the number ${token.slice(0, 40)}, which cannot be kept exactly`,
      );
    }
  }
}

function rejectInvalidKey(keys: Set<string>, key: string, field: string | undefined): void {
  if (keys.has(key)) throw jsonFault(field, "invalid_json", `has the key ${JSON.stringify(key.slice(0, 40))} twice`);
  if (key === "__proto__") throw jsonFault(field, "invalid_json", 'has a key "__proto__"');
  keys.add(key);
}

function parseStringToken(token: string, field: string | undefined): string {
  const text = JSON.parse(token) as string;
  if (text.includes("\0")) throw jsonFault(field, "invalid_request", "contains the character U+0000");
  if (!text.isWellFormed()) throw jsonFault(field, "invalid_request", "contains a lone surrogate");
  return text;
}

/** Whether JSON.parse keeps a number exactly: 0.1 and 5.0 yes; 9007199254740993, -0 and 1e999 no. */
function isExactNumber(token: string): boolean {
  const value = Number(token);
  return Number.isFinite(value) && !Object.is(value, -0) && normalizeDecimal(token) === normalizeDecimal(String(value));
}

/** Normalizes a decimal to sign, digits without outer zeros, and exponent. Equal texts mean equal numbers. */
function normalizeDecimal(decimal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  // Without the lookbehind, each zero of a long inner run would start a search of its own: seconds for 64 KiB of zeros.
  const trimmed = digits.replace(/(?<!0)0+$/, "");
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

function jsonFault(field: string | undefined, code: "invalid_json" | "invalid_request", problem: string): Fault {
  const subject = field === undefined ? "The body" : `${JSON.stringify(field.slice(0, 80))}`;
  return new Fault(code, {
    message: `${subject} ${problem}.`,
    ...(field === undefined ? {} : { param: field.slice(0, 80) }),
  });
}
