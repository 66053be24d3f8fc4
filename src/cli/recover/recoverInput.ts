import { readFileSync } from "node:fs";
import { parseAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import { parseInboxes, InboxInputError, type VerifiedInbox } from "@tributary/recover/parseInboxes";
import { isHex } from "viem";
import type { CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";

// What a person hands in: a file of intents, addresses, a key. Each refusal names the option and what would be right.

const STANDARD_INPUT = 0;

/** The inboxes of a file, or of what is piped in when the file is called `-`. */
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

/** One address of an option, in lower case. */
export function readAddress(text: string, option: string): Hex {
  const address = parseAddress(text.trim());
  if (address === undefined)
    throw new UsageError(`--${option} must be an address of 0x and 40 digits with a correct checksum, not ${text}.`);
  return address;
}

export function readAddresses(text: string | undefined, option: string): Hex[] {
  return (text ?? "")
    .split(",")
    .filter((one) => one.trim() !== "")
    .map((one) => readAddress(one, option));
}

/** Several RPC URLs, each of another chain. */
export function readRpcUrls(text: string | undefined): string[] {
  const urls = (text ?? "").split(",").map((url) => url.trim());
  const wrong = urls.find((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol));
  if (wrong !== undefined)
    throw new UsageError(
      `--rpc must be one or more http(s) URLs with commas between them, not ${JSON.stringify(wrong)}.`,
    );
  return urls;
}

/** Never an option's value: what is typed stands in the shell's history and in the list of processes. */
export function readPrivateKey({ values, environment }: Pick<CommandInput, "values" | "environment">): Hex {
  const file = values["key-file"];
  const key = (file === undefined ? (environment["TRIBUTARY_RECOVER_KEY"] ?? "") : readFileText(file)).trim();
  if (key === "")
    throw new UsageError("Sending needs a key: name its file with --key-file, or put it into TRIBUTARY_RECOVER_KEY.");
  if (!isHex(key) || key.length !== 66) throw new CommandError("The key must be 0x and 64 hex digits.");
  return key;
}

export function readFromBlock(text: string | undefined): bigint {
  if (text === undefined) return 0n;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--from-block must be a whole number, not ${text}.`);
  return BigInt(text);
}
