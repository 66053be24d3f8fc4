import type { IdentifiedTransfer, TransferNaming } from "../chain/scriptedReader.ts";
import { hashOf, type ScriptedReceipt } from "../chain/transaction.ts";

/** More transfers than any simulated transaction has. */
const PLACES_PER_TRANSACTION = 1_000;

/**
 * A kind without logs. Each transaction has its own range of places, and the receiving account identifies a transfer.
 */
export const accountNaming: TransferNaming = {
  transfersOf,
  proofOf(receipt) {
    const { chainTx, blockNumber, blockHash, succeeded } = receipt;
    const transfers = transfersOf(receipt);
    const identities = new Map(transfers.map(({ place, identity }) => [place, identity]));
    const identityAt = (place: bigint) => identities.get(place);
    return { chainTx, blockNumber, blockHash, succeeded, identityAt, transfers: () => transfers };
  },
};

function transfersOf({ chainTx, blockNumber, blockHash, index, logs }: ScriptedReceipt): IdentifiedTransfer[] {
  const paidBefore = new Map<string, number>();
  return logs.flatMap(({ address: token, transfer }, position) => {
    if (!transfer) return [];
    const { from, to, units } = transfer;
    const account = accountOf(token, to);
    const count = paidBefore.get(account) ?? 0;
    paidBefore.set(account, count + 1);
    const identity = count === 0 ? account : `${account}+${count}`;
    const place = BigInt(index * PLACES_PER_TRANSACTION + position);
    return { token, from, to, amountText: String(units), chainTx, place, blockNumber, blockHash, identity };
  });
}

/** The token account of an owner. */
function accountOf(token: string, owner: string): string {
  return `acct${Buffer.from(hashOf("account", token, owner).slice(2, 34), "hex").toString("base64url")}`;
}
