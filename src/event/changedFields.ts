/** The top-level fields in which two versions of a resource differ, with their earlier values: an event's `previous`. */
export function changedFields(before: object, after: object): Record<string, unknown> {
  const later = new Map<string, unknown>(Object.entries(after));
  return Object.fromEntries(
    Object.entries(before).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(later.get(field))),
  );
}
