import { zeroBytes32, type Terms } from "@tributary/inbox/terms";
import { InboxInputError, parseInboxEntries, readEntries, type VerifiedInbox } from "./parseInboxes.ts";
import { hasSolanaInbox, parseSolanaEntries, type RecoverableInbox } from "./solana/parseSolanaInboxes.ts";

export type ParsedIntents = {
  readonly onEvm: readonly VerifiedInbox[];
  readonly onSolana: readonly RecoverableInbox[];
  /** Why entries of the file were left out. */
  readonly refused: readonly string[];
};

/**
 * Parses the inboxes of a file on both kinds of chains; one intent can have one on each. A malformed entry does not
 * hide the others. Throws InboxInputError where no entry is left.
 */
export function parseIntents(text: string): ParsedIntents {
  const entries = readEntries(text);
  const refused: string[] = [];
  const onRefused = (reason: string) => void refused.push(reason);
  const onEvm = parseInboxEntries(
    entries.filter(({ value }) => hasEvmInbox(value) || !hasSolanaInbox(value)),
    onRefused,
  );
  const onSolana = parseSolanaEntries(
    entries.filter(({ value }) => hasSolanaInbox(value)),
    onRefused,
  );
  // In the order of the file: each reason begins with the number of its entry.
  refused.sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  const [first] = refused;
  if (first !== undefined && onEvm.length + onSolana.length === 0) throw new InboxInputError(first);
  return { onEvm: onSolana.length === 0 ? onEvm : onEvm.filter(({ terms }) => canPayOut(terms)), onSolana, refused };
}

/** Beside a payout on Solana, EVM terms without routes are those of an address that is never issued. */
function canPayOut({ settleChainId, routesRoot }: Terms): boolean {
  return settleChainId !== 0n || routesRoot !== zeroBytes32;
}

function hasEvmInbox(value: unknown): boolean {
  const { inboxTerms, hub } = (value ?? {}) as { inboxTerms?: { hub?: unknown }; hub?: unknown };
  return (inboxTerms?.hub ?? hub) !== undefined;
}
