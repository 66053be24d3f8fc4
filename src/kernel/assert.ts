/** Thrown when an invariant is broken. Callers let it end the process; they never catch it and continue. */
export class AssertionFailed extends Error {
  override readonly name = "AssertionFailed";
}

/** Throws AssertionFailed unless `condition` holds. Assertions run in production: a stopped process loses no money, a wrong one may. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}
