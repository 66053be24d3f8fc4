import { parseUnits } from "../../kernel/units.ts";
import { findNetwork } from "../networks/network.ts";

// What a stranger's small payment costs the operator on public networks, for the minimums that `init` writes and
// `doctor` compares. Rough figures: prices of gas and coins change, and the minimums have a margin of two.

/** The most gas of each call, measured once with the issuer's contracts: docs/bench.md. */
export const CALL_GAS = { settle: 104_405n, burn: 188_800n, receive: 246_000n } as const;

const GWEI_DECIMALS = 9;
const USD_DECIMALS = 6;
const NATIVE_DECIMALS = 18;
/** Of the minimums over the costs: gas may become twice as dear. */
const MARGIN = 2n;
/** The bridged token has six decimals, and nothing is below a cent. */
const CENT_UNITS = 10_000n;

/** What one native coin of a network costs, roughly; undefined where it costs nothing, or is not known. */
export function usualUsd(chainId: number): string | undefined {
  return findNetwork(`eip155:${chainId}`)?.usual?.nativeUsd;
}

/** What calls of this much gas cost on a network, in millionths of a dollar; undefined for an unknown network. */
export function usualCostUsd(chainId: number, { gas, usd }: { gas: bigint; usd: string }): bigint | undefined {
  const costs = findNetwork(`eip155:${chainId}`)?.usual;
  const [price, feePerGas] = [parseUnits(usd, USD_DECIMALS), parseUnits(costs?.feePerGasGwei ?? "", GWEI_DECIMALS)];
  return price === undefined || feePerGas === undefined
    ? undefined
    : (gas * feePerGas * price) / 10n ** BigInt(NATIVE_DECIMALS);
}

/**
 * Minimums with which a stranger's small payment costs him more than the operator, in the smallest units of a dollar
 * token with six decimals, in whole cents. `minimumUnits` covers the transaction that empties an inbox, or gives its
 * money to a bridge; `crossingMinimumUnits` the one that receives.
 */
export function usualMinimums(
  chainId: number,
  usd: string | undefined,
): { minimumUnits: bigint; crossingMinimumUnits: bigint } {
  const minimumOf = (gas: bigint) => {
    const costUnits = MARGIN * (usualCostUsd(chainId, { gas, usd: usd ?? "0" }) ?? 0n);
    const cents = (costUnits + CENT_UNITS - 1n) / CENT_UNITS;
    return (cents > 0n ? cents : 1n) * CENT_UNITS;
  };
  const { settle, burn, receive } = CALL_GAS;
  return { minimumUnits: minimumOf(burn > settle ? burn : settle), crossingMinimumUnits: minimumOf(receive) };
}
