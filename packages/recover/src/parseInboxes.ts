import { computeInboxAddress } from "@tributary/inbox/address";
import { parseAddress } from "@tributary/inbox/checksum";
import { hubs, type Hub } from "@tributary/inbox/hubs";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { hubFromWire, termsFromWire, type InboxTerms } from "@tributary/inbox/wire";

/** An inbox whose address was recomputed from its terms. */
export type VerifiedInbox = {
  readonly intentId: string | undefined;
  readonly address: Hex;
  readonly terms: Terms;
  /** The hub that it belongs to. */
  readonly hub: Hub;
};

/** The input is invalid; the message names the entry and the valid form. */
export class InboxInputError extends Error {
  override readonly name = "InboxInputError";
}

/** The limit of one run, because every chain is asked about each inbox. */
const INBOXES_MAX = 10_000;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses inboxes from the text of a file: an intent from the API, its `inboxTerms` alone, a list of either (with or without the API's list
 * envelope), or one of them per line. Throws InboxInputError for a malformed entry, other contracts, or an address that differs from the
 * one of its terms.
 */
export function parseInboxes(text: string): VerifiedInbox[] {
  const entries = readEntries(text);
  const inboxes = entries.map((entry, index) => parseEntry(entry, entries.length === 1 ? "" : `Entry ${index + 1}: `));
  // Two copies of one intent are one inbox.
  return [...new Map(inboxes.map((inbox) => [inbox.address, inbox])).values()];
}

/** The entries of a file: one JSON value, a list (with or without the API's list envelope), or one value per line. Throws InboxInputError. */
export function readEntries(text: string): unknown[] {
  const entries = splitEntries(text.replace(/^\ufeff/, ""));
  if (entries.length === 0) throw new InboxInputError("It contains no intent.");
  if (entries.length > INBOXES_MAX)
    throw new InboxInputError(`It contains more than ${INBOXES_MAX} intents: split it.`);
  return entries;
}

function splitEntries(text: string): unknown[] {
  const whole = tryParseJson(text);
  if (whole !== undefined) return listEntries(whole.value);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line, index) => {
    const parsed = tryParseJson(line);
    if (parsed === undefined)
      throw new InboxInputError(
        lines.length === 1 ? "It is not JSON." : `Line ${index + 1} is not JSON, and neither is the whole file.`,
      );
    return listEntries(parsed.value);
  });
}

function listEntries(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (isJsonObject(value) && Array.isArray(value["data"])) return value["data"];
  return [value];
}

function tryParseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function parseEntry(entry: unknown, prefix: string): VerifiedInbox {
  if (!isJsonObject(entry)) throw new InboxInputError(`${prefix}an intent or its inboxTerms must be a JSON object.`);
  const wire = isJsonObject(entry["inboxTerms"]) ? entry["inboxTerms"] : entry;
  const hub = parseHub(wire, prefix);
  const terms = parseTerms(wire, prefix);
  const address = computeInboxAddress(terms, hub);
  const statedAddress = entry["inboxAddress"];
  if (statedAddress !== undefined && parseAddress(statedAddress) !== address)
    throw new InboxInputError(`${prefix}its terms determine the inbox ${address}, not ${quoteValue(statedAddress)}.`);
  const intentId = entry["intentId"];
  return { intentId: typeof intentId === "string" ? intentId : undefined, address, terms, hub };
}

/** Other contracts have other addresses and unknown rules. */
function parseHub(wire: JsonObject, prefix: string): Hub {
  if (wire["version"] === undefined || wire["hub"] === undefined)
    throw new InboxInputError(`${prefix}it has no inboxTerms; take the whole intent as the API returns it.`);
  const hub = hubFromWire(wire as InboxTerms);
  if (hub !== undefined) return hub;
  const known = hubs.map(({ address }) => address).join(" and ");
  throw new InboxInputError(
    `${prefix}its inbox was made by the hub ${quoteValue(wire["hub"])}, and this release knows ${known}. Use the release that made it.`,
  );
}

function parseTerms(wire: JsonObject, prefix: string): Terms {
  try {
    return termsFromWire(wire as InboxTerms);
  } catch (error) {
    throw new InboxInputError(`${prefix}inboxTerms: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function quoteValue(value: unknown): string {
  return JSON.stringify(value).slice(0, 60);
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
