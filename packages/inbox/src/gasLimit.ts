// The gas limit of a settlement at the hub. The hub never reverts because of one inbox, so an estimate accepts limits
// at which inboxes fail for lack of gas. Only a simulation at the limit shows whether it suffices.

/** A transaction's highest gas limit: Ethereum's own (EIP-7825), and enough for the largest useful batch elsewhere. */
export const TRANSACTION_GAS_MAX = 16_777_216n;

/** Margin over the estimate: state may change before the block, and unused gas is free. */
const GAS_MARGIN_PERCENT = 140n;

/**
 * The hub fails an inbox whose fee transfer fails with less than 220,000 gas left, because it cannot tell a refusal
 * from too little gas. The two calls around the transfer keep a part of the gas back.
 */
const REFUSED_FEE_GAS = 260_000n;

/** The first gas limit to simulate. */
export function initialGasLimit(estimatedGas: bigint, gasMax: bigint): bigint {
  return atMost((estimatedGas * GAS_MARGIN_PERCENT) / 100n, gasMax);
}

/** The gas that a call with this limit uses, about. */
export function withoutMargin(gasLimit: bigint): bigint {
  return (gasLimit * 100n) / GAS_MARGIN_PERCENT;
}

/** The next gas limit to simulate after `limit` was too low; undefined when none is left. */
export function raiseGasLimit(limit: bigint, gasMax: bigint): bigint | undefined {
  if (limit >= gasMax) return undefined;
  const raised = limit < REFUSED_FEE_GAS ? limit + REFUSED_FEE_GAS : limit * 2n;
  return atMost(raised, gasMax);
}

function atMost(gas: bigint, gasMax: bigint): bigint {
  return gas < gasMax ? gas : gasMax;
}
