import { ProviderFailed, type BlockRange, type Skipping } from "../../reader.ts";
import { skippedKeys, type UnreadableEntry } from "../../unreadable/unreadableEntry.ts";
import type { SolanaTransaction, UnreadableTransaction } from "../rpc/parseTransaction.ts";
import type { SolanaRpc } from "../rpc/solanaRpc.ts";
import type { SignatureList } from "./listSignatures.ts";
import { fetchTransactions } from "./locateTransactions.ts";

/** More transactions of a range are not fetched at once; those of one block always are. */
const TRANSACTIONS_MAX = 100;

/** The list of one address. `owner`: of a token account; undefined for the program. */
export type OwnedList = { owner: string | undefined; list: SignatureList };

export type ListedTransactions = {
  /** Those that succeeded and can be read. */
  transactions: readonly SolanaTransaction[];
  /** The slots of the others that succeeded, by their signatures. */
  unreadableSlots: ReadonlyMap<string, bigint>;
};

type ListedRange = BlockRange & Skipping & { program: string; lists: readonly OwnedList[] };

/**
 * Fetches what the lists of a range name. Throws ProviderFailed `unreadable` with what nobody can parse and the range
 * does not skip.
 */
export async function fetchListed(
  rpc: SolanaRpc,
  { lists, program, ...range }: ListedRange,
): Promise<ListedTransactions> {
  const slotOf = new Map(
    lists.flatMap(({ list }) => list.listed.map(({ signature, slot }) => [signature, slot] as const)),
  );
  const succeeded = new Set(
    lists.flatMap(({ list }) => list.listed.filter((each) => each.succeeded).map(({ signature }) => signature)),
  );
  const isCut = lists.some(({ list }) => list.isCut);
  if (range.fromBlock < range.toBlock && (isCut || succeeded.size > TRANSACTIONS_MAX))
    throw tooMany(rpc, range, slotOf);
  const { transactions, unreadable } = await fetchTransactions(rpc, [...succeeded]);
  const known = new Map(transactions.map((transaction) => [transaction.signature, transaction]));
  const unreadableSlots = new Map(unreadable.map(({ signature }) => [signature, slotOf.get(signature) ?? 0n]));
  for (const signature of succeeded) {
    if (unreadableSlots.has(signature)) continue;
    const transaction = known.get(signature);
    if (transaction?.slot !== slotOf.get(signature) || !transaction?.succeeded)
      throw new ProviderFailed("contradictory", `${rpc.name} listed ${signature}, and does not have it so any more`);
  }
  const entries = unreadable
    .map((each) => toEntry(each, { lists, program, slot: slotOf.get(each.signature) }))
    // An entry that the program's list showed first does not name the inboxes whose lists show it too.
    .filter((entry) => skippedKeys(entry).some((key) => range.skipped?.has(key) !== true));
  if (entries.length > 0) throw unreadableTransactions(rpc.name, entries);
  return { transactions, unreadableSlots };
}

function toEntry(
  transaction: UnreadableTransaction,
  { lists, program, slot }: { lists: readonly OwnedList[]; program: string; slot: bigint | undefined },
): UnreadableEntry {
  const { signature: key, reason } = transaction;
  // The lists show what it names, although its own text may not.
  const listing = lists.filter(({ list }) => list.listed.some(({ signature }) => signature === key));
  const listedBy = listing.flatMap(({ owner }) => owner ?? []);
  const names = new Set([...transaction.names, ...listedBy]);
  const namesProgram = names.has(program) || listing.some(({ owner }) => owner === undefined);
  return {
    key,
    kind: "transaction",
    chainTx: key,
    blockNumber: slot,
    place: undefined,
    reason,
    names: [...names],
    namesProgram,
    listedBy,
  };
}

/** Entries of transactions of which only the signature is known. */
export function toUnlistedEntries(unreadable: readonly UnreadableTransaction[], program: string): UnreadableEntry[] {
  return unreadable.map((each) => toEntry(each, { lists: [], program, slot: undefined }));
}

export function unreadableTransactions(name: string, entries: readonly UnreadableEntry[]): ProviderFailed {
  const [first] = entries;
  const more = entries.length > 1 ? ` and ${entries.length - 1} more` : "";
  return new ProviderFailed(
    "unreadable",
    `${name} has ${first?.key ?? ""}${more}, which this release cannot read: ${first?.reason ?? ""}`,
    { unreadable: entries },
  );
}

/** The range up to the slot of the first transaction that is too much. */
function tooMany(rpc: SolanaRpc, range: BlockRange, slotOf: ReadonlyMap<string, bigint>): ProviderFailed {
  const slots = [...slotOf.values()].toSorted((one, other) => (one < other ? -1 : 1));
  const blocks = (slots[TRANSACTIONS_MAX] ?? range.toBlock) - range.fromBlock;
  return new ProviderFailed("range_too_large", `${rpc.name} lists more than ${TRANSACTIONS_MAX} transactions`, {
    suggestion: { blocks: blocks > 0n ? blocks : 1n, isLimit: false },
  });
}
