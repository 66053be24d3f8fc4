import type { TransactionProof } from "../reader.ts";

/** A receipt, with the index of its first log in the block and the number of its logs. */
type ReceiptPlace = Omit<TransactionProof, "identityAt"> & { logIndexFirst: number | undefined; logCount: number };

/** On EVM a transfer's identity is its log's position inside the receipt, which a reorg does not change. */
export function createProof({ logIndexFirst, logCount, ...transaction }: ReceiptPlace): TransactionProof {
  return {
    ...transaction,
    identityAt: (place) => {
      if (!transaction.succeeded || logIndexFirst === undefined) return undefined;
      const inside = place - BigInt(logIndexFirst);
      return inside < 0n || inside >= BigInt(logCount) ? undefined : inside.toString();
    },
  };
}
