import { readFileSync } from "node:fs";
import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { parseAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import { parseSigned, type SignedBurn } from "@tributary/recover/bridge/attestation";
import { parseBridges } from "@tributary/recover/bridge/parseBridges";
import { parseGwei } from "@tributary/recover/gasPrice";
import { InboxInputError } from "@tributary/recover/parseInboxes";
import { parseIntents, type ParsedIntents } from "@tributary/recover/parseIntents";
import { isHex } from "viem";
import type { CommandInput } from "../command.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";

// Reads the input of verify and recover: intents, addresses, a key. Each error names the option and the accepted form.

const STANDARD_INPUT = 0;

/** Parses the content of a file. Throws CommandError for an invalid one. */
export function parseIntentFile(file: string, content: string): ParsedIntents {
  try {
    return parseIntents(content);
  } catch (error) {
    if (error instanceof InboxInputError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Reads a file, or standard input for `-`. Throws CommandError. */
export function readFileText(file: string): string {
  try {
    return readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reads Circle's contracts on further chains from a JSON list; none without a file. Throws CommandError. */
export function readBridges(file: string | undefined): CctpV2Chain[] {
  if (file === undefined) return [];
  try {
    return parseBridges(readFileText(file));
  } catch (error) {
    if (error instanceof InboxInputError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

const BURN_TX = /^(?:0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/;

/** Parses transactions separated by commas: hashes, or signatures of Solana. Throws UsageError. */
export function readBurnTxs(text: string | undefined): string[] {
  const texts = text === undefined ? [] : text.split(",").map((each) => each.trim());
  return texts.map((each) => {
    const burnTx = each.startsWith("0x") ? each.toLowerCase() : each;
    if (BURN_TX.test(burnTx)) return burnTx;
    throw new UsageError(`--receive must be the hash of the burn's transaction, 0x and 64 hex digits, not ${each}.`);
  });
}

/** Parses a message and its attestation; undefined without both. Throws UsageError. */
export function readSignedBurn({ values }: Pick<CommandInput, "values">): SignedBurn | undefined {
  const { message, attestation } = values;
  if (message === undefined && attestation === undefined) return undefined;
  if (message === undefined || attestation === undefined)
    throw new UsageError("--message and --attestation belong together: give both.");
  const [signed] = parseSigned(message, attestation);
  if (signed === undefined)
    throw new UsageError(
      "--message and --attestation must be the hex of a burn as the attestation service gives them.",
    );
  if (/^0x0*$/.test(signed.burn.nonce))
    throw new UsageError("--message is not signed yet: take it from the attestation service, not from the burn's log.");
  return signed;
}

/** Parses the base URL of an attestation service; undefined without it. Throws UsageError. */
export function readAttestationUrl(text: string | undefined): string | undefined {
  if (text === undefined || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))) return text;
  throw new UsageError(`--attestation-url must be an http(s) URL, not ${text}.`);
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

/**
 * Reads the key from a file or a variable, never from an option: option values appear in shell history and process
 * lists.
 */
export function readPrivateKey({ values, environment }: Pick<CommandInput, "values" | "environment">): Hex {
  const file = values["key-file"];
  const key = (file === undefined ? (environment["TRIBUTARY_RECOVER_KEY"] ?? "") : readFileText(file)).trim();
  if (key === "")
    throw new UsageError("Missing private key: name its file in --key-file, or set TRIBUTARY_RECOVER_KEY.");
  if (!isHex(key) || key.length !== 66) throw new CommandError("The private key must be 0x and 64 hex digits.");
  return key;
}

/** Parses the highest price of gas and returns wei; undefined without it. Throws UsageError. */
export function readFeeCeiling(text: string | undefined): bigint | undefined {
  const ceiling = text === undefined ? undefined : parseGwei(text);
  if (text !== undefined && ceiling === undefined)
    throw new UsageError(`--max-fee-gwei must be a price in gwei above 0, such as 0.5, not ${text}.`);
  return ceiling;
}

export function readFromBlock(text: string | undefined): bigint {
  if (text === undefined) return 0n;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--from-block must be a whole number, not ${text}.`);
  return BigInt(text);
}
