/** The lowest of some numbers, such as blocks or units. */
export function lowestOf(first: bigint, ...others: readonly bigint[]): bigint {
  return others.reduce((lowest, number) => (number < lowest ? number : lowest), first);
}

/** The highest of some numbers, such as blocks or units. Undefined ones count for nothing. */
export function highestOf(first: bigint, ...others: readonly (bigint | undefined)[]): bigint {
  return others.reduce<bigint>(
    (highest, number) => (number !== undefined && number > highest ? number : highest),
    first,
  );
}
