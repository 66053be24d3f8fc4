import { amount, asset, bytes, constant, flag, id, oneOf, optional, pinned, plain, showText, time } from "./fields.ts";
import { defineFormat, type Field, type Stored } from "./format.ts";

/** The first format of a deposit. `depositId` is the first stored value. */
export const depositFormat1 = defineFormat([
  constant("object", "deposit"),
  id("depositId", "dep_"),
  pinned("intentId", (intent) => intent.id),
  oneOf("status", ["seen", "confirmed", "counted", "held", "dropped"]),
  amount("amountUnits"),
  amount("countedUnits"),
  token(),
  asset("caip19"),
  bytes("from"),
  bytes("txHash"),
  plain("position"),
  plain("blockNumber"),
  bytes("blockHash"),
  plain("confirmations"),
  plain("requiredConfirmations"),
  plain("requiredSeconds"),
  flag("late"),
  plain("reason"),
  id("settlementId", "set_"),
  time("seenAt"),
  time("countedAt"),
  optional("depositCount"),
]);

/** Stores symbol and decimals; the address stands in `caip19`. */
function token(): Field {
  const { show: showAsset } = asset("caip19");
  return {
    name: "token",
    store: (value) => {
      const { symbol, decimals } = value as { symbol: string; decimals: number };
      return [symbol, decimals];
    },
    show: (stored, context) => {
      const [symbol = null, decimals = null] = Array.isArray(stored) ? (stored as Stored[]) : [];
      const caip19 = showText(showAsset(context.values["caip19"] ?? null, context) as Stored);
      return { symbol, address: caip19.slice(caip19.lastIndexOf(":") + 1), decimals };
    },
  };
}
