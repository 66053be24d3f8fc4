import { readFileSync } from "node:fs";
import { parseAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import { parseInboxes, InboxInputError, type VerifiedInbox } from "@tributary/recover/parseInboxes";
import { isHex } from "viem";
import type { CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";

// Reads the input of verify and recover: intents, addresses, a key. Each error names the option and the accepted form.

const STANDARD_INPUT = 0;

/** Reads inboxes from a file, or from standard input for `-`. Throws CommandError for an unreadable or invalid file. */
export function readInboxes(file: string): VerifiedInbox[] {
  try {
    return parseInboxes(readFileText(file));
  } catch (error) {
    if (error instanceof InboxInputError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

function readFileText(file: string): string {
  try {
    return readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Parses one address and returns it in lower case. Throws UsageError. */
export function readAddress(text: string, option: string): Hex {
  const address = parseAddress(text.trim());
  if (address === undefined)
    throw new UsageError(`--${option} must be 0x and 40 hex digits with a correct checksum, not ${text}.`);
  return address;
}

export function readAddresses(text: string | undefined, option: string): Hex[] {
  return (text ?? "")
    .split(",")
    .filter((one) => one.trim() !== "")
    .map((one) => readAddress(one, option));
}

/** Parses a comma-separated list of RPC URLs, one for each chain. Throws UsageError. */
export function readRpcUrls(text: string | undefined): string[] {
  const urls = (text ?? "").split(",").map((url) => url.trim());
  const invalid = urls.find((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol));
  if (invalid !== undefined)
    throw new UsageError(`--rpc must be one or more http(s) URLs separated by commas, not ${JSON.stringify(invalid)}.`);
  return urls;
}

/** Reads the key from a file or a variable, never from an option: option values appear in shell history and process lists. */
export function readPrivateKey({ values, environment }: Pick<CommandInput, "values" | "environment">): Hex {
  const file = values["key-file"];
  const key = (file === undefined ? (environment["TRIBUTARY_RECOVER_KEY"] ?? "") : readFileText(file)).trim();
  if (key === "")
    throw new UsageError("Missing private key: name its file in --key-file, or set TRIBUTARY_RECOVER_KEY.");
  if (!isHex(key) || key.length !== 66) throw new CommandError("The private key must be 0x and 64 hex digits.");
  return key;
}

export function readFromBlock(text: string | undefined): bigint {
  if (text === undefined) return 0n;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--from-block must be a whole number, not ${text}.`);
  return BigInt(text);
}
