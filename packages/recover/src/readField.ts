/** A field of an answer whose shape is unknown; undefined where there is none. */
export function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
