/** What was typed is not what the command takes. Exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command could not do its work, for a reason that a person can read. Exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
