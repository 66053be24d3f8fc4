import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { decodeBase58, encodeBase58 } from "@tributary/inbox/solana/base58";
import { encodeKey } from "@tributary/inbox/solana/keys";
import type { SolanaChainConfig } from "../config.ts";
import { isReadable, type GasKeyContext, type KeyUse } from "../gasKey.ts";
import * as rules from "../rules.ts";
import { ConfigError, fieldPath, hasField, quoteSource, readField, type ConfigSection } from "../section.ts";

/** The DER bytes before the 32 secret bytes of an Ed25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SECRET_BYTES = 32;
const EXPECTED = "a key pair of 64 bytes, as base58 or as the JSON list that solana-keygen writes";
/** 64 bytes have at most 88 digits. Longer texts are not decoded, because decoding takes quadratic time. */
const BASE58_PAIR = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

type FeePayer = Pick<SolanaChainConfig, "feePayer" | "feePayerKey" | "feePayerKeyFile">;

/**
 * Reads the fee payer's key pair from the variable or file that the configuration names. Errors never quote the key.
 */
export function readFeePayer(section: ConfigSection, context: GasKeyContext): FeePayer {
  const fromVariable = hasField(section, "feePayerKeyEnv");
  if (fromVariable === hasField(section, "feePayerKeyFile")) {
    throw new ConfigError(
      `${fieldPath(section, "feePayerKeyEnv")}: name either an environment variable here or a file in feePayerKeyFile; it holds the key pair of the account that pays fees.`,
    );
  }
  const { text, source, file } = fromVariable ? readVariable(section, context) : readFile(section, context);
  const pair = parseKeyPair(text);
  if (pair === undefined) throw new ConfigError(`${source} does not hold ${EXPECTED}.`);
  const feePayer = encodeKey(pair.subarray(SECRET_BYTES));
  if (publicKeyOf(pair.subarray(0, SECRET_BYTES)) !== feePayer)
    throw new ConfigError(`${source} holds a public key that does not belong to the secret key.`);
  if (hasField(section, "feePayer") && readField(section, "feePayer", rules.solanaAddress) !== feePayer)
    throw new ConfigError(
      `${fieldPath(section, "feePayer")}: this is not the address of the key, which is ${feePayer}.`,
    );
  return { feePayer, feePayerKey: encodeBase58(pair), ...(file === undefined ? {} : { feePayerKeyFile: file }) };
}

/** For a process that reads no key. New inboxes commit to the address. */
export function readFeePayerAddress(section: ConfigSection, context: GasKeyContext & { keys: KeyUse }): FeePayer {
  if (!hasField(section, "feePayer")) {
    if (context.keys === "optional") return { feePayer: findFeePayer(section, context), feePayerKey: undefined };
    throw new ConfigError(
      `${fieldPath(section, "feePayer")}: give the address of the account that pays fees, because a process without the role settle reads no key.`,
    );
  }
  return { feePayer: readField(section, "feePayer", rules.solanaAddress), feePayerKey: undefined };
}

/** The address of the key; empty when the variable is not set, or this user may not read the file. */
function findFeePayer(section: ConfigSection, context: GasKeyContext): string {
  const isThere = hasField(section, "feePayerKeyEnv")
    ? Boolean(context.variables[readField(section, "feePayerKeyEnv", rules.environmentVariable)])
    : hasField(section, "feePayerKeyFile") &&
      isReadable(resolve(context.directory, readField(section, "feePayerKeyFile", rules.path)));
  return isThere ? readFeePayer(section, context).feePayer : "";
}

type KeyText = { text: string; source: string; file?: string };

function readVariable(section: ConfigSection, { variables }: GasKeyContext): KeyText {
  const name = readField(section, "feePayerKeyEnv", rules.environmentVariable);
  const source = `${fieldPath(section, "feePayerKeyEnv")}: the environment variable ${quoteSource(name)}`;
  const text = variables[name];
  if (text === undefined || text === "") throw new ConfigError(`${source} is not set; set it to ${EXPECTED}.`);
  return { text, source };
}

function readFile(section: ConfigSection, { directory }: GasKeyContext): KeyText {
  const file = resolve(directory, readField(section, "feePayerKeyFile", rules.path));
  const source = `${fieldPath(section, "feePayerKeyFile")}: the file ${quoteSource(file)}`;
  try {
    return { text: readFileSync(file, "utf8"), source, file };
  } catch {
    throw new ConfigError(`${source} cannot be read; put ${EXPECTED} there.`);
  }
}

/** The 64 bytes of a key pair: in base58, or as the JSON list that solana-keygen writes. Undefined for other texts. */
export function parseKeyPair(text: string): Uint8Array | undefined {
  const trimmed = text.trim();
  const bytes = BASE58_PAIR.test(trimmed) ? decodeBase58(trimmed) : parseList(trimmed);
  return bytes?.length === 2 * SECRET_BYTES ? bytes : undefined;
}

function parseList(text: string): Uint8Array | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every(isByte) ? Uint8Array.from(list) : undefined;
  } catch {
    return undefined;
  }
}

function isByte(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;
}

function publicKeyOf(secret: Uint8Array): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: "der", type: "pkcs8" });
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return encodeKey(new Uint8Array(Buffer.from(x, "base64url")));
}
