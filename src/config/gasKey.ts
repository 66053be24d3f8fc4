import { accessSync, constants, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import type { Hex } from "viem";
import type { ProcessEnvironment } from "./config.ts";
import * as rules from "./rules.ts";
import { ConfigError, hasField, fieldPath, readField, quoteSource, type ConfigSection } from "./section.ts";

/** Public keys of the standard test mnemonic. On a real network, bots empty their accounts at once. */
const WELL_KNOWN_KEYS: ReadonlySet<string> = new Set([
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
  "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
  "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
  "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
  "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
  "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
]);

export type GasKeyContext = { environment: "test" | "live"; variables: ProcessEnvironment; directory: string };

/**
 * Reads the gas account's private key from the variable or file that the configuration names. Errors never quote the
 * key.
 */
export function readGasKey(section: ConfigSection, context: GasKeyContext): string {
  const fromVariable = hasField(section, "gasKeyEnv");
  if (fromVariable === hasField(section, "gasKeyFile")) {
    throw new ConfigError(
      `${fieldPath(section, "gasKeyEnv")}: name either an environment variable here or a file in gasKeyFile; it holds the private key of the gas account.`,
    );
  }
  const { key, source } = fromVariable ? readKeyFromEnvironment(section, context) : readKeyFromFile(section, context);
  const parsed = rules.privateKey.parse(key);
  if (parsed === undefined) throw new ConfigError(`${source} does not hold ${rules.privateKey.expected}.`);
  if (context.environment === "live" && WELL_KNOWN_KEYS.has(parsed)) {
    throw new ConfigError(`${source} holds a publicly known key; create a new one for live networks.`);
  }
  return parsed;
}

/**
 * What a process does with the keys that pay for transactions: `sign` needs them, `address` needs their addresses, and
 * `optional` goes without either.
 */
export type KeyUse = "sign" | "address" | "optional";

/** Reads the address of the key. A process that signs knows it from the key. */
export function readGasAccount(section: ConfigSection, context: GasKeyContext & { keys: KeyUse }): string | undefined {
  if (hasField(section, "gasAccount")) return readField(section, "gasAccount", rules.evmAddress);
  if (context.keys === "sign") return undefined;
  if (context.keys === "optional") return isKeyThere(section, context) ? addressOf(readGasKey(section, context)) : "";
  throw new ConfigError(
    `${fieldPath(section, "gasAccount")}: give the address of the gas account, because a process without the role settle reads no key.`,
  );
}

function addressOf(privateKey: string): string {
  return privateKeyToAccount(privateKey as Hex).address.toLowerCase();
}

/** Whether the variable is set, or this user may read the file. */
function isKeyThere(section: ConfigSection, { variables, directory }: GasKeyContext): boolean {
  if (hasField(section, "gasKeyEnv")) {
    const key = variables[readField(section, "gasKeyEnv", rules.environmentVariable)];
    return key !== undefined && key !== "";
  }
  const file = findGasKeyFile(section, directory);
  return file !== undefined && isReadable(file);
}

export function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the key file; undefined when a variable holds the key. */
export function findGasKeyFile(section: ConfigSection, directory: string): string | undefined {
  return hasField(section, "gasKeyFile") ? resolve(directory, readField(section, "gasKeyFile", rules.path)) : undefined;
}

function readKeyFromEnvironment(section: ConfigSection, { variables }: GasKeyContext): { key: string; source: string } {
  const name = readField(section, "gasKeyEnv", rules.environmentVariable);
  const source = `${fieldPath(section, "gasKeyEnv")}: the environment variable ${quoteSource(name)}`;
  const key = variables[name];
  if (key === undefined || key === "") {
    throw new ConfigError(`${source} is not set; set it to ${rules.privateKey.expected}.`);
  }
  return { key, source };
}

function readKeyFromFile(section: ConfigSection, { directory }: GasKeyContext): { key: string; source: string } {
  const file = resolve(directory, readField(section, "gasKeyFile", rules.path));
  const source = `${fieldPath(section, "gasKeyFile")}: the file ${quoteSource(file)}`;
  try {
    return { key: readFileSync(file, "utf8"), source };
  } catch {
    throw new ConfigError(`${source} cannot be read; put ${rules.privateKey.expected} there.`);
  }
}
