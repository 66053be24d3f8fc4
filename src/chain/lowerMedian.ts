/**
 * The lower of the two middle values, for an even number; undefined for none. One false answer of two or more never
 * raises it.
 */
export function lowerMedian(answers: readonly bigint[]): bigint | undefined {
  const sorted = answers.toSorted((one, other) => (one < other ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
