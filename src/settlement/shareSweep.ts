/** What one sweep moved: to payout and fee recipient, and elsewhere. */
type MovedUnits = { grossUnits: bigint; feeUnits: bigint; otherRecipientUnits: bigint };

/** A transfer by which a bridge gave an inbox its own units, in the token's smallest units. */
export type Mint = { id: bigint; name: string; units: bigint; bridgeFeeUnits: bigint };

/** One settlement's part of a sweep: what the payout and the fee recipient received of it. */
export type SweepShare = { netUnits: bigint; feeUnits: bigint };

export type SharedSweep = {
  /** Of the deposits in the sweep's own token and chain; undefined when the mints explain everything that it moved. */
  own: SweepShare | undefined;
  /** By the mint's id. */
  crossed: ReadonlyMap<bigint, SweepShare>;
};

/**
 * Divides what a sweep paid among the settlements that it lands: one for each mint in it, in the order of the chain,
 * and one for everything else. Each share is rounded down, and the last takes the rest. Pure, so every process and
 * every repeat divide alike.
 */
export function shareSweep(split: MovedUnits, mints: readonly Mint[]): SharedSweep {
  const movedUnits = split.grossUnits + split.otherRecipientUnits;
  const mintedUnits = mints.reduce((sum, { units }) => sum + units, 0n);
  const ownUnits = movedUnits > mintedUnits ? movedUnits - mintedUnits : 0n;
  const hasOwn = ownUnits > 0n || mints.length === 0;
  const weights = [...mints.map(({ units }) => units), ...(hasOwn ? [ownUnits] : [])];
  const gross = divide(split.grossUnits, weights);
  const fees = limitToGross(divide(split.feeUnits, gross), gross);
  const shares = gross.map((units, index): SweepShare => {
    const feeUnits = fees[index] ?? 0n;
    return { feeUnits, netUnits: units - feeUnits };
  });
  return {
    own: hasOwn ? shares.at(-1) : undefined,
    crossed: new Map(mints.flatMap(({ id }, index) => (shares[index] ? [[id, shares[index]]] : []))),
  };
}

/** The rest that the last fee takes may exceed a small burn's gross: the shares before it then bear what is above. */
function limitToGross(fees: readonly bigint[], gross: readonly bigint[]): bigint[] {
  let excess = (fees.at(-1) ?? 0n) - (gross.at(-1) ?? 0n);
  if (excess <= 0n) return [...fees];
  return fees.map((fee, index) => {
    if (index === fees.length - 1) return gross[index] ?? 0n;
    const room = (gross[index] ?? 0n) - fee;
    const added = room < excess ? room : excess;
    excess -= added;
    return fee + added;
  });
}

/** Shares of `units` by weight, each rounded down; the last takes the rest. */
function divide(units: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  let left = units;
  return weights.map((weight, index) => {
    const share = index === weights.length - 1 ? left : total === 0n ? 0n : (units * weight) / total;
    left -= share;
    return share;
  });
}
