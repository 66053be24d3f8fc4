import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { solanaInboxVersion, solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import type { SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { InboxInputError, readEntries } from "../parseInboxes.ts";

/** A Solana inbox that was recomputed from its terms. */
export type RecoverableInbox = { readonly intentId: string | undefined; readonly inbox: SolanaInbox };

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses Solana inboxes from the text of a file: intents from the API with `inboxTerms.solana`, or those terms alone, as one, as a list, or one
 * per line. `program` is the program of the cluster. Throws InboxInputError for a malformed entry or the terms of another program.
 */
export function parseSolanaInboxes(text: string, program: string): RecoverableInbox[] {
  const entries = readEntries(text);
  const inboxes = entries.map((entry, index) => {
    try {
      return parseEntry(entry, program);
    } catch (error) {
      const prefix = entries.length === 1 ? "" : `Entry ${index + 1}: `;
      throw new InboxInputError(`${prefix}${error instanceof Error ? error.message : String(error)}`);
    }
  });
  return [...new Map(inboxes.map((each) => [each.inbox.address, each])).values()];
}

function parseEntry(entry: unknown, program: string): RecoverableInbox {
  const intent = asObject(entry);
  const inboxTerms = asObject(intent["inboxTerms"]);
  const wire = [inboxTerms["solana"], intent["solana"], entry].map(asObject).find((each) => each["kind"] !== undefined);
  if (wire === undefined) throw new Error("it has no inboxTerms.solana; take the whole intent as the API returns it.");
  if (wire["version"] !== solanaInboxVersion || wire["program"] !== program)
    throw new Error(`its inbox belongs to the program ${String(wire["program"])}, and this cluster's is ${program}.`);
  const token = wire["tokenProgram"];
  if (token !== tokenProgram && token !== token2022Program)
    throw new Error("tokenProgram must be one of the two token programs.");
  const inbox = computeSolanaInbox(solanaTermsFromWire(wire as SolanaInboxTerms), { program, tokenProgram: token });
  const stated = wire["address"];
  if (stated !== undefined && stated !== inbox.address)
    throw new Error(`its terms determine the inbox ${inbox.address}, not ${JSON.stringify(stated).slice(0, 60)}.`);
  const { intentId } = intent;
  return { intentId: typeof intentId === "string" ? intentId : undefined, inbox };
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
