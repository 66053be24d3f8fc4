import { isIPv4, isIPv6 } from "node:net";
import { parseAddress } from "@tributary/inbox/checksum";
import { parseKey } from "@tributary/inbox/solana/keys";
import { parseSupportAddress, SUPPORT_EXPECTED } from "../kernel/text/supportAddress.ts";
import { parseUnits } from "../kernel/units.ts";
import type { FieldRule } from "./section.ts";

const URL_CHARACTERS_MAX = 2_000;
const AMOUNT_DIGITS_MAX = 78;
const GWEI_DECIMALS = 9;
const GWEI_MAX = 1_000_000n;
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

export const text: FieldRule<string> = {
  expected: "a text of 1 to 60 printable characters",
  parse: (value) =>
    typeof value === "string" && /^[^\p{C}]{1,60}$/u.test(value) && value.trim() === value ? value : undefined,
};

export const supportAddress: FieldRule<string> = {
  expected: SUPPORT_EXPECTED,
  parse: (value) => (typeof value === "string" ? parseSupportAddress(value) : undefined),
};

export const path: FieldRule<string> = {
  expected: "a path",
  parse: (value) => (typeof value === "string" && value !== "" && !value.includes("\0") ? value : undefined),
};

export const slug: FieldRule<string> = {
  expected: "1 to 32 lower-case letters, digits and hyphens, beginning with a letter or digit",
  parse: (value) => (typeof value === "string" && /^[a-z0-9][a-z0-9-]{0,31}$/.test(value) ? value : undefined),
};

/** A name that needs no quotes, and that PostgreSQL does not reserve. */
export const schemaName: FieldRule<string> = {
  expected: "up to 63 lower-case letters, digits and underscores that begin with a letter, and not with pg_",
  parse: (value) => (typeof value === "string" && /^(?!pg_)[a-z][a-z0-9_]{0,62}$/.test(value) ? value : undefined),
};

export const environmentVariable: FieldRule<string> = {
  expected: "the name of an environment variable",
  isSecret: true,
  parse: (value) => (typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value) ? value : undefined),
};

export const network: FieldRule<string> = {
  expected: 'an IP address or a network, such as "10.0.0.0/8"',
  parse: (value) => {
    if (typeof value !== "string") return undefined;
    const [address = "", bits, ...more] = value.split("/");
    const bitsMax = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0;
    const isPrefixValid = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
    return bitsMax > 0 && isPrefixValid && more.length === 0 ? value : undefined;
  },
};

export const flag: FieldRule<boolean> = {
  expected: "true or false",
  parse: (value) => (typeof value === "boolean" ? value : undefined),
};

export function wholeNumber(min: number, max: number): FieldRule<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    parse: (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  };
}

export function oneOf<T extends string>(...options: readonly T[]): FieldRule<T> {
  return {
    expected: options.map((option) => JSON.stringify(option)).join(" or "),
    parse: (value) => options.find((option) => option === value),
  };
}

/** Amounts are strings: a JSON number silently loses digits above 2^53. */
export const amount: FieldRule<bigint> = {
  expected: 'an amount in the smallest units as a string of digits, such as "1000000"',
  parse: (value) =>
    typeof value === "string" && new RegExp(`^\\d{1,${AMOUNT_DIGITS_MAX}}$`).test(value) ? BigInt(value) : undefined,
};

export const usdAmount: FieldRule<string> = {
  expected: 'an amount in US dollars as a plain decimal, such as "0.02"',
  parse: (value) => (typeof value === "string" && /^\d{1,6}(?:\.\d{1,4})?$/.test(value) ? value : undefined),
};

/** A price of gas in gwei, which is parsed into wei. Larger values are more likely wei than gwei. */
export const gwei: FieldRule<bigint> = {
  expected: 'a price of gas in gwei above 0 and up to 1000000, as a string of digits, such as "50" or "0.5"',
  parse: (value) => {
    const wei = typeof value === "string" ? parseUnits(value, GWEI_DECIMALS) : undefined;
    return wei !== undefined && wei > 0n && wei <= GWEI_MAX * 10n ** BigInt(GWEI_DECIMALS) ? wei : undefined;
  },
};

export const evmAddress: FieldRule<string> = {
  expected: "an address of 0x and 40 hex digits with a correct checksum, and not the zero address",
  parse: (value) => {
    const address = parseAddress(value);
    return address === ZERO_ADDRESS ? undefined : address;
  },
};

export const solanaAddress: FieldRule<string> = {
  expected: "a Solana address, 32 bytes in base58",
  parse: (value) => (typeof value === "string" && parseKey(value) !== undefined ? value : undefined),
};

/** An http or https URL without a fragment. */
export const webUrl: FieldRule<string> = {
  expected: "a URL that begins with http:// or https://, without a fragment",
  parse: (value) => parseUrl(value, /^https?:$/),
};

/** A provider's WebSocket URL. */
export const wsUrl: FieldRule<string> = {
  expected: "a URL that begins with ws:// or wss://, without a fragment",
  parse: (value) => parseUrl(value, /^wss?:$/),
};

function parseUrl(value: unknown, protocol: RegExp): string | undefined {
  if (typeof value !== "string" || value.length > URL_CHARACTERS_MAX) return undefined;
  const url = URL.parse(value);
  return url !== null && protocol.test(url.protocol) && url.hash === "" ? value : undefined;
}

/** The base of links. Parsing removes trailing slashes. */
export const baseUrl: FieldRule<string> = {
  expected: 'a URL without a query, such as "https://pay.example.com"',
  parse: (value) => {
    const webAddress = webUrl.parse(value);
    if (webAddress === undefined) return undefined;
    const url = new URL(webAddress);
    if (url.search !== "" || url.username !== "" || webAddress.includes("?")) return undefined;
    return webAddress.replace(/\/+$/, "");
  },
};

/**
 * A libpq URL, which allows more than a web URL: "postgres://user@/database?host=/run/postgresql" names a Unix socket.
 */
export const postgresUrl: FieldRule<string> = {
  expected: 'a URL such as "postgres://user:password@host:5432/database"',
  parse: (value) => (typeof value === "string" && /^postgres(?:ql)?:\/\/\S+$/.test(value) ? value : undefined),
};

export const privateKey: FieldRule<string> = {
  expected: "a private key of 0x and 64 hex digits",
  parse: (value) => {
    const key = typeof value === "string" ? value.trim().toLowerCase() : "";
    return /^0x[0-9a-f]{64}$/.test(key) && BigInt(key) !== 0n ? key : undefined;
  },
};
