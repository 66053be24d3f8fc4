/**
 * The top-level fields in which two versions of a resource differ, with their earlier values: an event's `previous`.
 */
export function changedFields(before: object, after: object): Record<string, unknown> {
  const isEqual = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);
  return Object.fromEntries(
    Object.entries(before).filter(([field, value]) => !isEqual(value, Reflect.get(after, field))),
  );
}
