import { withoutMargin } from "@tributary/inbox/gasLimit";
import { formatUnits } from "../../../kernel/units.ts";
import type { SenderWorld } from "../../sender.ts";
import type { FeeLimits, FeeQuote } from "../node.ts";
import type { SenderContext } from "./senderContext.ts";
import { raiseAlarm } from "../../../kernel/alarm/raiseAlarm.ts";

// Every signed transaction stays within the chain's fee ceiling: settlements, their replacements and cancel
// transactions. Above it they wait.

/** Nodes accept a replacement from 10 % on; some require 12.5 %. */
const FEE_BUMP_PERCENT = 113n;
const GWEI_DECIMALS = 9;

/**
 * Requests the fees of the next block. Returns undefined while they exceed the ceiling: then nothing may be signed.
 * Logs an alarm when that begins.
 */
export async function requestFees(world: SenderWorld, context: SenderContext): Promise<FeeQuote | undefined> {
  const quote = await context.providers.fees();
  const { feeCeiling } = context;
  const isExceeded = priceOf(quote) > feeCeiling.maxFeePerGas;
  const facts = { chain: context.caip2, ...formatPrice(quote, feeCeiling.maxFeePerGas) };
  if (isExceeded && !feeCeiling.isExceeded)
    raiseAlarm(world.log, { alarm: "gas_price_above_ceiling", ...facts }, "the gas price is above the ceiling");
  if (!isExceeded && feeCeiling.isExceeded) world.log.info(facts, "the gas price is below the ceiling again");
  feeCeiling.isExceeded = isExceeded;
  return isExceeded ? undefined : quote;
}

/** The gas price of the next block and the ceiling, in gwei as decimals. */
export function formatPrice(quote: FeeQuote, ceiling: bigint): { priceGwei: string; maxFeePerGasGwei: string } {
  return {
    priceGwei: formatUnits(priceOf(quote), GWEI_DECIMALS),
    maxFeePerGasGwei: formatUnits(ceiling, GWEI_DECIMALS),
  };
}

/** What a transaction in the next block pays, in wei per gas. */
export function priceOf({ baseFeePerGas, maxPriorityFeePerGas }: FeeQuote): bigint {
  return baseFeePerGas + maxPriorityFeePerGas;
}

/**
 * Covers a doubled base fee, which takes at least six full blocks, but never more than the ceiling. `quote` is within
 * the ceiling.
 */
export function limitFees(quote: FeeQuote, ceiling: bigint): FeeLimits {
  const doubled = 2n * quote.baseFeePerGas + quote.maxPriorityFeePerGas;
  return {
    maxFeePerGas: doubled < ceiling ? doubled : ceiling,
    maxPriorityFeePerGas: quote.maxPriorityFeePerGas,
  };
}

/** The fees of a replacement that nodes accept; undefined when they would exceed the ceiling. */
export function bumpFees(paid: FeeLimits, quote: FeeQuote, ceiling: bigint): FeeLimits | undefined {
  const quoted = limitFees(quote, ceiling);
  const raise = (one: bigint, other: bigint) => {
    const raised = (one * FEE_BUMP_PERCENT) / 100n + 1n;
    return raised > other ? raised : other;
  };
  const bumped = {
    maxFeePerGas: raise(paid.maxFeePerGas, quoted.maxFeePerGas),
    maxPriorityFeePerGas: raise(paid.maxPriorityFeePerGas, quoted.maxPriorityFeePerGas),
  };
  return bumped.maxFeePerGas > ceiling ? undefined : bumped;
}

/**
 * What a call with this gas limit costs in the next block, about, in wei. Its limits cover a doubled base fee, and its
 * gas limit has a margin.
 */
export function presentFee(gasLimit: bigint, { maxFeePerGas, maxPriorityFeePerGas }: FeeLimits): bigint {
  return (withoutMargin(gasLimit) * (maxFeePerGas + maxPriorityFeePerGas)) / 2n;
}
