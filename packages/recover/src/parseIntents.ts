import { zeroBytes32, type Terms } from "@tributary/inbox/terms";
import { parseInboxEntries, readEntries, type VerifiedInbox } from "./parseInboxes.ts";
import { hasSolanaInbox, parseSolanaEntries, type RecoverableInbox } from "./solana/parseSolanaInboxes.ts";

export type ParsedIntents = {
  readonly onEvm: readonly VerifiedInbox[];
  readonly onSolana: readonly RecoverableInbox[];
};

/** Parses the inboxes of a file on both kinds of chains; one intent can have one on each. Throws InboxInputError. */
export function parseIntents(text: string): ParsedIntents {
  const entries = readEntries(text);
  const onEvm = parseInboxEntries(entries.filter(({ value }) => hasEvmInbox(value) || !hasSolanaInbox(value)));
  const onSolana = parseSolanaEntries(entries.filter(({ value }) => hasSolanaInbox(value)));
  return { onEvm: onSolana.length === 0 ? onEvm : onEvm.filter(({ terms }) => canPayOut(terms)), onSolana };
}

/** Beside a payout on Solana, EVM terms without routes are those of an address that is never issued. */
function canPayOut({ settleChainId, routesRoot }: Terms): boolean {
  return settleChainId !== 0n || routesRoot !== zeroBytes32;
}

function hasEvmInbox(value: unknown): boolean {
  const { inboxTerms, hub } = (value ?? {}) as { inboxTerms?: { hub?: unknown }; hub?: unknown };
  return (inboxTerms?.hub ?? hub) !== undefined;
}
