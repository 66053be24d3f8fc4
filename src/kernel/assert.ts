/** Raised when the program's own reasoning is wrong. It is never caught to go on: the process ends instead. */
export class AssertionFailed extends Error {
  override readonly name = "AssertionFailed";
}

/** States what must be true here. Assertions stay on in production: to stop beats to be wrong with money. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}
