import { inboxAddress } from "@tributary/inbox/address";
import { findAddress } from "@tributary/inbox/checksum";
import { hubAddress, implementationAddress, inboxVersion } from "@tributary/inbox/hub";
import type { Hex, Terms } from "@tributary/inbox/terms";
import { termsFromWire, type InboxTerms } from "@tributary/inbox/wire";

/** An inbox whose address was recomputed from the terms, not believed. */
export type KnownInbox = { readonly intentId: string | undefined; readonly address: Hex; readonly terms: Terms };

/** What was handed in cannot be used; the message says which entry and what would be right. */
export class RecordRefused extends Error {
  override readonly name = "RecordRefused";
}

/** More are recovered in several runs: every chain is asked about each of them. */
const RECORDS_MAX = 10_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Inboxes from the text of a file: an intent as the API answered it, its `inboxTerms` alone, a list of either (with or without
 * the API's list envelope), or one of them a line. Throws RecordRefused when one of them is malformed, was made by other
 * contracts, or names an address that its terms do not make.
 */
export function readRecords(text: string): KnownInbox[] {
  const entries = entriesOf(text.replace(/^\ufeff/, ""));
  if (entries.length === 0) throw new RecordRefused("There is no intent in it.");
  if (entries.length > RECORDS_MAX) throw new RecordRefused(`It holds more than ${RECORDS_MAX} intents: split it.`);
  const inboxes = entries.map((entry, index) => readRecord(entry, entries.length === 1 ? "" : `Entry ${index + 1}: `));
  // Two reads of one intent are one inbox.
  return [...new Map(inboxes.map((inbox) => [inbox.address, inbox])).values()];
}

function entriesOf(text: string): unknown[] {
  const whole = findJson(text);
  if (whole !== undefined) return entriesOfValue(whole.value);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line, index) => {
    const parsed = findJson(line);
    if (parsed === undefined)
      throw new RecordRefused(
        lines.length === 1 ? "It is not JSON." : `Line ${index + 1} is not JSON, nor is the whole.`,
      );
    return entriesOfValue(parsed.value);
  });
}

function entriesOfValue(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (isFields(value) && Array.isArray(value["data"])) return value["data"];
  return [value];
}

function findJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function readRecord(entry: unknown, where: string): KnownInbox {
  if (!isFields(entry)) throw new RecordRefused(`${where}an intent or its inboxTerms must be a JSON object.`);
  const wire = isFields(entry["inboxTerms"]) ? entry["inboxTerms"] : entry;
  checkMaker(wire, where);
  const terms = readTerms(wire, where);
  const address = inboxAddress(terms);
  const stated = entry["inboxAddress"];
  if (stated !== undefined && findAddress(stated) !== address)
    throw new RecordRefused(`${where}its terms make the inbox ${address}, and not ${shown(stated)}.`);
  const intentId = entry["intentId"];
  return { intentId: typeof intentId === "string" ? intentId : undefined, address, terms };
}

/** Other contracts make other addresses, and what those contracts allow is not known here. */
function checkMaker(wire: Fields, where: string): void {
  if (wire["version"] === undefined || wire["hub"] === undefined)
    throw new RecordRefused(`${where}it has no inboxTerms; take the whole intent as the API answers it.`);
  const isOurs =
    wire["version"] === inboxVersion &&
    findAddress(wire["hub"]) === hubAddress &&
    findAddress(wire["implementation"]) === implementationAddress;
  if (isOurs) return;
  throw new RecordRefused(
    `${where}its inbox was made by the hub ${shown(wire["hub"])}, and this release knows ${hubAddress}. Use the release that made it.`,
  );
}

function readTerms(wire: Fields, where: string): Terms {
  try {
    return termsFromWire(wire as InboxTerms);
  } catch (error) {
    throw new RecordRefused(`${where}inboxTerms: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 60);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
