/**
 * The process can no longer be trusted and must end (exit code 70). Code that catches errors to go on rethrows this
 * one.
 */
export class FatalError extends Error {}

/** Thrown when an invariant is broken. */
class AssertionFailed extends FatalError {
  override readonly name = "AssertionFailed";
}

/**
 * Throws AssertionFailed unless `condition` holds. Assertions run in production: a stopped process loses no money, a
 * wrong one may.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}
