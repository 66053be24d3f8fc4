// Two-sided tests for large samples, with the normal approximation.

export type Summary = { median: number; mean: number };

export function summaryOf(sample: readonly number[]): Summary {
  const sorted = sample.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, mean: meanOf(sample) };
}

/**
 * Welch's test: the probability of a mean difference at least this large under equal means. Rare slow answers weigh
 * heavily.
 */
export function welchP(one: readonly number[], other: readonly number[]): number {
  const errors = varianceOf(one) / one.length + varianceOf(other) / other.length;
  return twoSidedP((meanOf(one) - meanOf(other)) / Math.sqrt(errors));
}

/**
 * The Mann-Whitney test: the probability of ranks at least this uneven under one distribution. Ties get their mean
 * rank.
 */
export function mannWhitneyP(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((value) => ({ value, isOne: true })), ...other.map((value) => ({ value, isOne: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  let tied = 0;
  for (let start = 0; start < all.length;) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1;
    const count = end - start;
    const rank = (start + 1 + end) / 2;
    rankSum += rank * all.slice(start, end).filter(({ isOne }) => isOne).length;
    tied += count ** 3 - count;
    start = end;
  }
  const [m, n, total] = [one.length, other.length, all.length];
  const u = rankSum - (m * (m + 1)) / 2;
  const variance = ((m * n) / 12) * (total + 1 - tied / (total * (total - 1)));
  return twoSidedP((u - (m * n) / 2) / Math.sqrt(variance));
}

function meanOf(sample: readonly number[]): number {
  return sample.reduce((sum, value) => sum + value, 0) / sample.length;
}

function varianceOf(sample: readonly number[]): number {
  const mean = meanOf(sample);
  return sample.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (sample.length - 1);
}

/** The complementary error function of |z| / √2, by Abramowitz and Stegun 7.1.26: exact to 1.5e-7. */
function twoSidedP(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429];
  const polynomial = series.toReversed().reduce((sum, coefficient) => (sum + coefficient) * t, 0);
  return polynomial * Math.exp(-x * x);
}
