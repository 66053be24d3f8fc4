import { amount, asset, constant, id, oneOf, pinned, plain, showBytes, storeBytes, time, toStored } from "./fields.ts";
import { defineFormat, type Field, type Stored } from "./format.ts";

/** The first format of a settlement. `settlementId` is the first stored value. */
export const settlementFormat1 = defineFormat([
  constant("object", "settlement"),
  id("settlementId", "set_"),
  pinned("intentId", (intent) => intent.id),
  oneOf("status", ["planned", "submitted", "bridging", "landed", "held", "failed"]),
  asset("caip19"),
  amount("grossUnits"),
  amount("feeUnits"),
  amount("routeCostUnits"),
  amount("netUnits"),
  plain("reason"),
  transactions(),
  time("createdAt"),
  time("submittedAt"),
  time("landedAt"),
]);

type Transaction = { txHash: string; chain: string; blockNumber: number | null };

function transactions(): Field {
  return {
    name: "txs",
    store: (value) =>
      (value as Transaction[]).map(({ txHash, chain, blockNumber }) => [
        storeBytes(txHash),
        chain,
        toStored(blockNumber),
      ]),
    show: (stored) =>
      (stored as Stored[]).map((transaction) => {
        const [txHash = null, chain = null, blockNumber = null] = transaction as Stored[];
        return { txHash: showBytes(txHash), chain, blockNumber };
      }),
  };
}
