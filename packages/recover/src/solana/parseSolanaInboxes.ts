import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { parseKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { solanaInboxVersion, solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import type { SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { InboxInputError, parseEach, readEntries, type FileEntry, type OnRefused } from "../parseInboxes.ts";
import { parseIntentId, toPrintable } from "../printable.ts";

/** A Solana inbox that was recomputed from its terms. */
export type RecoverableInbox = { readonly intentId: string | undefined; readonly inbox: SolanaInbox };

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses Solana inboxes from the text of a file: intents from the API with `inboxTerms.solana`, or those terms alone,
 * as one, as a list, or one per line. `program` is the program of the cluster. Throws InboxInputError for a malformed
 * entry or the terms of another program.
 */
export function parseSolanaInboxes(text: string, program: string): RecoverableInbox[] {
  const inboxes = parseSolanaEntries(readEntries(text));
  for (const { inbox } of inboxes) requireProgram(inbox, program);
  return inboxes;
}

/** Like parseSolanaInboxes, before the cluster is known: each inbox has the program that its terms name. */
export function parseSolanaEntries(entries: readonly FileEntry[], onRefused?: OnRefused): RecoverableInbox[] {
  const parse = ({ value, prefix }: FileEntry) => {
    try {
      return parseEntry(value);
    } catch (error) {
      throw new InboxInputError(toPrintable(`${prefix}${error instanceof Error ? error.message : String(error)}`));
    }
  };
  const inboxes = parseEach(entries.flatMap(splitEntry), parse, onRefused);
  return [...new Map(inboxes.map((each) => [each.inbox.address, each])).values()];
}

/** An intent can have several inboxes on Solana that cross to it. */
function splitEntry(entry: FileEntry): FileEntry[] {
  const intent = asObject(entry.value);
  const { solanaRoutes } = asObject(intent["inboxTerms"] ?? intent);
  if (!Array.isArray(solanaRoutes) || solanaRoutes.length === 0) return [entry];
  const { intentId } = intent;
  return solanaRoutes.map((solana: unknown) => ({ ...entry, value: { intentId, inboxTerms: { solana } } }));
}

/** Whether an intent, or its terms, has an inbox on Solana. */
export function hasSolanaInbox(value: unknown): boolean {
  return findSolanaTerms(value) !== undefined;
}

/** Why an inbox is not of a cluster with this program; undefined where it is. */
export function findForeignProgram({ program, address }: SolanaInbox, expected: string): string | undefined {
  if (program === expected) return undefined;
  return `The inbox ${address} belongs to the program ${program}, and this cluster's is ${expected}.`;
}

/** Throws InboxInputError when the inbox belongs to another program than the cluster's. */
export function requireProgram(inbox: SolanaInbox, expected: string): void {
  const refusal = findForeignProgram(inbox, expected);
  if (refusal !== undefined) throw new InboxInputError(refusal);
}

/** The terms on Solana of an intent, of its terms, or these terms themselves. */
export function findSolanaTerms(value: unknown): JsonObject | undefined {
  const intent = asObject(value);
  const inboxTerms = asObject(intent["inboxTerms"]);
  const [hop] = [inboxTerms["solanaRoutes"] ?? intent["solanaRoutes"]].flat();
  return [inboxTerms["solana"], intent["solana"], hop, value].map(asObject).find((each) => each["kind"] !== undefined);
}

function parseEntry(value: unknown): RecoverableInbox {
  const { intentId, inboxAddress } = asObject(value);
  const wire = findSolanaTerms(value);
  if (wire === undefined) throw new Error("it has no inboxTerms.solana; take the whole intent as the API returns it.");
  const inbox = computeInbox(wire);
  // The intent states the inbox from which it is paid out.
  const stated = [wire["address"], wire["kind"] === "pay" ? inboxAddress : undefined];
  for (const address of stated)
    if (address !== undefined && address !== inbox.address)
      throw new Error(`its terms determine the inbox ${inbox.address}, not ${JSON.stringify(address).slice(0, 60)}.`);
  return { intentId: parseIntentId(intentId), inbox };
}

function computeInbox(wire: JsonObject): SolanaInbox {
  const { version, program, tokenProgram: token } = wire;
  const refuse = (reason: string) => new Error(`inboxTerms.solana: ${reason}.`);
  if (version !== solanaInboxVersion)
    throw refuse(`version is ${String(version)}, and this release knows ${solanaInboxVersion}`);
  if (typeof program !== "string" || parseKey(program) === undefined)
    throw refuse("program must be the base58 of 32 bytes");
  if (token !== tokenProgram && token !== token2022Program)
    throw refuse("tokenProgram must be one of the two token programs");
  try {
    return computeSolanaInbox(solanaTermsFromWire(wire as SolanaInboxTerms), { program, tokenProgram: token });
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
