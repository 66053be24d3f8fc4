import { ProviderFailed } from "../../reader.ts";
import { UnreadableTransaction, type SolanaTransaction } from "../rpc/parseTransaction.ts";
import type { SolanaRpc } from "../rpc/solanaRpc.ts";

/** The places of one transaction. */
export const PLACES_MAX = 4_096n;
/** Blocks with the signatures of all their transactions, at a time. */
const BLOCKS_AT_A_TIME = 4;
/** Transactions in a request. */
const TRANSACTIONS_AT_A_TIME = 50;

/** A confirmed transaction in its block. */
export type LocatedTransaction = SolanaTransaction & { blockHash: string; index: bigint };

export type FetchedTransactions = {
  transactions: readonly SolanaTransaction[];
  unreadable: readonly UnreadableTransaction[];
};

/** Fetches transactions. Those that the node does not know as confirmed are absent. */
export async function fetchTransactions(rpc: SolanaRpc, signatures: readonly string[]): Promise<FetchedTransactions> {
  const transactions: SolanaTransaction[] = [];
  const unreadable: UnreadableTransaction[] = [];
  for (let start = 0; start < signatures.length; start += TRANSACTIONS_AT_A_TIME)
    for (const answer of await rpc.transactions(signatures.slice(start, start + TRANSACTIONS_AT_A_TIME)))
      if (answer instanceof UnreadableTransaction) unreadable.push(answer);
      else if (answer !== undefined) transactions.push(answer);
  return { transactions, unreadable };
}

/**
 * Finds the transactions in their blocks, in the order of the chain. Each block costs the signatures of all its
 * transactions, so pass only transactions that matter. Throws when a block does not hold its transaction, as after a
 * fork between two answers.
 */
export async function locateTransactions(
  rpc: SolanaRpc,
  transactions: readonly SolanaTransaction[],
): Promise<LocatedTransaction[]> {
  const bySlot = [...Map.groupBy(transactions, ({ slot }) => slot)];
  const located: LocatedTransaction[] = [];
  for (let start = 0; start < bySlot.length; start += BLOCKS_AT_A_TIME) {
    const group = bySlot.slice(start, start + BLOCKS_AT_A_TIME);
    const blocks = await Promise.all(group.map(([slot, own]) => locateInBlock(rpc, slot, own)));
    located.push(...blocks.flat());
  }
  return located.toSorted((one, other) => compare(one, other));
}

async function locateInBlock(
  rpc: SolanaRpc,
  slot: bigint,
  transactions: readonly SolanaTransaction[],
): Promise<LocatedTransaction[]> {
  const block = await rpc.block(slot, { details: "signatures" });
  if (block === undefined)
    throw new ProviderFailed("unknown_block", `${rpc.name} does not have block ${slot} of a transaction`);
  const indexOf =
    block === "skipped" ? undefined : new Map(block.signatures?.map((signature, index) => [signature, index]));
  return transactions.map((transaction) => {
    const index = indexOf?.get(transaction.signature);
    if (block === "skipped" || index === undefined)
      throw new ProviderFailed(
        "contradictory",
        `${rpc.name} has ${transaction.signature} in block ${slot}, which does not hold it`,
      );
    return { ...transaction, blockHash: block.blockhash, index: BigInt(index) };
  });
}

function compare(one: LocatedTransaction, other: LocatedTransaction): number {
  if (one.slot !== other.slot) return one.slot < other.slot ? -1 : 1;
  return Number(one.index - other.index);
}
