/** The top-level fields in which two records of one resource differ, with their earlier values: what an event calls `previous`. */
export function changedFields(before: object, after: object): Record<string, unknown> {
  const later = new Map<string, unknown>(Object.entries(after));
  return Object.fromEntries(
    Object.entries(before).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(later.get(field))),
  );
}
