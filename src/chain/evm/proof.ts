import type { TransactionProof } from "../reader.ts";

/** A receipt: where its logs begin in the block is undefined when it has none. */
type ReceiptPlace = Omit<TransactionProof, "identityAt"> & { logIndexFirst: number | undefined };

/** On EVM a transfer's identity is its log's number inside the receipt, which a reorg leaves alone. */
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
