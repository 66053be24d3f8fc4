import { computeInboxAddress } from "@tributary/inbox/address";
import { parseAddress } from "@tributary/inbox/checksum";
import { hubs, type Hub } from "@tributary/inbox/hubs";
import { computeRoutesRoot, type Route } from "@tributary/inbox/routes";
import { zeroBytes32, type Hex, type Terms } from "@tributary/inbox/terms";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsFromWire, type SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { parseIntentId, toPrintable } from "./printable.ts";
import { hubFromWire, routesFromWire, termsFromWire, type InboxRoute, type InboxTerms } from "@tributary/inbox/wire";

/** An inbox whose address was recomputed from its terms. */
export type VerifiedInbox = {
  readonly intentId: string | undefined;
  readonly address: Hex;
  readonly terms: Terms;
  /** The hub that it belongs to. */
  readonly hub: Hub;
  /** The routes of its terms, in the order of their root; undefined where the file shows only the root. */
  readonly routes: readonly Route[] | undefined;
  /** For a payout on Solana: the token account of the intent's own inbox there, 32 bytes. */
  readonly recipient?: Hex | undefined;
};

/** The input is invalid; the message names the entry and the valid form. */
export class InboxInputError extends Error {
  override readonly name = "InboxInputError";
}

/** The limit of one run, because every chain is asked about each inbox. */
const INBOXES_MAX = 10_000;

type JsonObject = Readonly<Record<string, unknown>>;

/** One JSON value of a file. The prefix names it in messages when the file has several. */
export type FileEntry = { readonly value: unknown; readonly prefix: string };

/**
 * Parses inboxes from the text of a file: an intent from the API or from `tributary intents show --json`, its
 * `inboxTerms` alone, a list of either (with or without the API's list envelope), or one of them per line. Throws
 * InboxInputError for a malformed entry, other contracts, or an address that differs from the one of its terms.
 */
export function parseInboxes(text: string): VerifiedInbox[] {
  return parseInboxEntries(readEntries(text));
}

/** Gets why an entry is left out. Without one, a malformed entry refuses the whole file. */
export type OnRefused = (reason: string) => void;

/** Like parseInboxes, for entries that were read already. */
export function parseInboxEntries(entries: readonly FileEntry[], onRefused?: OnRefused): VerifiedInbox[] {
  const inboxes = parseEach(entries, parseEntry, onRefused);
  // Lists and events show only the root. Intents of one rail share it, so one intent with routes serves all of them.
  const routes = new Map(
    inboxes.map((inbox) => [inbox.terms.routesRoot, inbox.routes] as const).filter(([, list]) => list),
  );
  const completed = inboxes.map((inbox) => ({ ...inbox, routes: inbox.routes ?? routes.get(inbox.terms.routesRoot) }));
  // Two copies of one intent are one inbox.
  return [...new Map(completed.map((inbox) => [inbox.address, inbox])).values()];
}

/** Parses each entry; those that are malformed go to `onRefused`. */
export function parseEach<Parsed>(
  entries: readonly FileEntry[],
  parse: (entry: FileEntry) => Parsed,
  onRefused: OnRefused | undefined,
): Parsed[] {
  return entries.flatMap((entry) => {
    try {
      return [parse(entry)];
    } catch (error) {
      if (onRefused === undefined || !(error instanceof InboxInputError)) throw error;
      onRefused(error.message);
      return [];
    }
  });
}

/**
 * The entries of a file: one JSON value, a list (with or without the API's list envelope), or one value per line.
 * Throws InboxInputError.
 */
export function readEntries(text: string): FileEntry[] {
  const entries = splitEntries(text.replace(/^\ufeff/, ""));
  if (entries.length === 0) throw new InboxInputError("It contains no intent.");
  if (entries.length > INBOXES_MAX)
    throw new InboxInputError(`It contains more than ${INBOXES_MAX} intents: split it.`);
  return entries.map((entry, index) => {
    // `tributary intents show` prints the intent beside its deposits.
    const value = isJsonObject(entry) && isJsonObject(entry["intent"]) ? entry["intent"] : entry;
    return { value, prefix: entries.length === 1 ? "" : `Entry ${index + 1}: ` };
  });
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

function parseEntry({ value: entry, prefix }: FileEntry): VerifiedInbox {
  if (!isJsonObject(entry)) throw new InboxInputError(`${prefix}an intent or its inboxTerms must be a JSON object.`);
  const wire = isJsonObject(entry["inboxTerms"]) ? entry["inboxTerms"] : entry;
  const hub = parseHub(wire, prefix);
  const terms = parseTerms(wire, prefix);
  const address = computeInboxAddress(terms, hub);
  // An intent that is paid out on Solana states its inbox there.
  const isPaidOnSolana = isJsonObject(wire["solana"]) && wire["solana"]["kind"] === "pay";
  const statedAddress = isPaidOnSolana ? undefined : entry["inboxAddress"];
  if (statedAddress !== undefined && parseAddress(statedAddress) !== address)
    throw new InboxInputError(`${prefix}its terms determine the inbox ${address}, not ${quoteValue(statedAddress)}.`);
  const routes = parseRoutes(wire, terms, prefix);
  const recipient = isPaidOnSolana ? findRecipient(wire["solana"], terms) : undefined;
  return { intentId: parseIntentId(entry["intentId"]), address, terms, hub, routes, ...(recipient && { recipient }) };
}

/** The token account to which the routes of the same intent lead; undefined for terms of another one. */
function findRecipient(solana: unknown, { salt }: Terms): Hex | undefined {
  try {
    const wire = solana as SolanaInboxTerms;
    const { program, tokenProgram } = wire;
    const inbox = computeSolanaInbox(solanaTermsFromWire(wire), { program, tokenProgram });
    return inbox.terms.salt === salt ? (toMessageAccount(inbox.tokenAccount) as Hex) : undefined;
  } catch {
    return undefined;
  }
}

function parseRoutes(wire: JsonObject, { routesRoot }: Terms, prefix: string): Route[] | undefined {
  if ((wire["routes"] ?? undefined) === undefined) return routesRoot === zeroBytes32 ? [] : undefined;
  let routes: Route[];
  try {
    routes = routesFromWire(wire["routes"] as InboxRoute[]);
  } catch (error) {
    throw new InboxInputError(`${prefix}inboxTerms: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (computeRoutesRoot(routes) !== routesRoot)
    throw new InboxInputError(`${prefix}inboxTerms.routes do not have the root ${routesRoot} of its terms.`);
  return routes;
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
  return toPrintable(JSON.stringify(value)).slice(0, 60);
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
