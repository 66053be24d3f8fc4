// What can go wrong in a database, told apart by what the caller can do about it.

/** The embedded database broke down in the middle of its work. Nothing can be trusted after it: the process must end (exit code 70). */
export class DatabaseCrashed extends Error {
  override readonly name = "DatabaseCrashed";
}

/** The database is not one that this program may run on (too old, or it does not keep what it was told). */
export class DatabaseUnusable extends Error {
  override readonly name = "DatabaseUnusable";
}

/** The five-character SQLSTATE of an error that a database answered; undefined when it came from elsewhere. */
function sqlState(error: unknown): string | undefined {
  const code = property(error, "code");
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && property(error, "severity") !== undefined
    ? code
    : undefined;
}

/** Whether the database undid the transaction only because of others, so that the same transaction may be run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/**
 * Whether the database could not be reached or had no room: a connection that was refused or lost, no free connection,
 * a server that shuts down, or a lock or statement that took too long. A COMMIT may still have happened.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57|58)/.test(state) || state === "55P03";
  const code = property(error, "code");
  if (code !== undefined && /^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/.test(code)) return true;
  return (
    error instanceof Error &&
    /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered)/.test(error.message)
  );
}

function property(error: unknown, name: string): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}
