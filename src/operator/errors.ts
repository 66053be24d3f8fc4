/** The command's arguments are wrong. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command failed for a reason that its message explains to the user. Exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
