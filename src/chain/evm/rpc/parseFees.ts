import type { FeeQuote } from "../node.ts";
import { lowerMedian } from "../../lowerMedian.ts";
import { parseArray } from "../../rpc/jsonValues.ts";
import { parseQuantity } from "./rpcValues.ts";

/** Blocks whose tips bound the suggested tip. */
export const FEE_HISTORY_BLOCKS = 10n;
/** The percentile of each block's tips. */
export const FEE_HISTORY_PERCENTILE = 50;
const TIP_HISTORY_FACTOR = 3n;
/** 3 gwei. A tip up to this much is accepted whatever the recent blocks paid, because they may be empty. */
const TIP_MAX_MIN = 3_000_000_000n;

/**
 * The fee quote of an answer of eth_maxPriorityFeePerGas and of eth_feeHistory. A suggested tip far above what recent
 * blocks paid is wrong, so it is reduced. Without one it is the median of recent blocks. A tip that is too low is
 * raised later.
 */
export function toFeeQuote(suggestedTip: bigint | undefined, history: unknown): FeeQuote {
  const fees = parseArray(Reflect.get(Object(history), "baseFeePerGas"), "base fees");
  const paidTips = parseRewards(history);
  const tipMax = highest([TIP_MAX_MIN, ...paidTips.map((tip) => tip * TIP_HISTORY_FACTOR)]);
  const tip = suggestedTip ?? lowerMedian(paidTips) ?? 0n;
  return {
    // The last entry is the next block's base fee.
    baseFeePerGas: parseQuantity(fees.at(-1), "a base fee"),
    maxPriorityFeePerGas: tip < tipMax ? tip : tipMax,
  };
}

/** The median tip of each recent block. Some nodes leave them out. */
function parseRewards(history: unknown): bigint[] {
  const rewards: unknown = Reflect.get(Object(history), "reward");
  if (rewards === undefined || rewards === null) return [];
  return parseArray(rewards, "rewards").map((block) => parseQuantity(parseArray(block, "rewards")[0], "a reward"));
}

function highest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
}
