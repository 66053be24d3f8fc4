import type { TransactionProof } from "../reader.ts";

/** A receipt; `logIndexFirst` is undefined when it has no logs. */
type ReceiptPlace = Omit<TransactionProof, "identityAt"> & { logIndexFirst: number | undefined };

/** On EVM a transfer's identity is its log's position inside the receipt, which a reorg does not change. */
export function createProof({ logIndexFirst, ...transaction }: ReceiptPlace): TransactionProof {
  return {
    ...transaction,
    identityAt: (place) => {
      if (!transaction.succeeded || logIndexFirst === undefined) return undefined;
      const inside = place - BigInt(logIndexFirst);
      return inside < 0n ? undefined : inside.toString();
    },
  };
}
