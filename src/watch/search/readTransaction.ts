import type { ChainReader, Transfer, TransactionProof } from "../../chain/reader.ts";

export type ReadTransaction = { proof: TransactionProof | undefined; transfers: readonly Transfer[] };

/** One transaction with its transfers of the tokens; none when it failed, or when its block is above `upTo`. */
export async function readTransaction(
  reader: ChainReader,
  chainTx: string,
  { tokens, upTo }: { tokens: readonly string[]; upTo: bigint },
): Promise<ReadTransaction> {
  const [proof] = await reader.proofs([chainTx]);
  if (!proof?.succeeded || proof.blockNumber > upTo) return { proof, transfers: [] };
  const { blockHash, blockNumber } = proof;
  // The proof has all of them. A list of the block leaves out a plain payment where inboxes are read by their accounts,
  // and elsewhere what could not be parsed a short time ago.
  if (proof.transfers === undefined) {
    const transfers = await reader.transfers({ blockHash, blockNumber }, tokens);
    return { proof, transfers: transfers.filter((transfer) => transfer.chainTx === chainTx) };
  }
  const transfers = proof.transfers().flatMap((transfer): Transfer[] => {
    const identity = proof.identityAt(transfer.place);
    if (identity === undefined || !tokens.includes(transfer.token)) return [];
    return [{ ...transfer, chainTx, blockHash, blockNumber, identity }];
  });
  return { proof, transfers };
}
