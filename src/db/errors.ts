import { FatalError } from "../kernel/assert.ts";

// Database errors, grouped by the caller's possible reaction.

/** The embedded database crashed. Its state cannot be trusted. */
export class DatabaseCrashed extends FatalError {
  override readonly name = "DatabaseCrashed";
}

/** The database server does not meet the requirements: it is too old, or it may lose committed transactions. */
export class DatabaseUnusable extends Error {
  override readonly name = "DatabaseUnusable";
}

/** The five-character SQLSTATE of a database error; undefined for any other error. */
function sqlState(error: unknown): string | undefined {
  const code = property(error, "code");
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && property(error, "severity") !== undefined
    ? code
    : undefined;
}

/** Whether the database aborted the transaction only because of concurrent ones, so that it can run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/**
 * Whether the database was unreachable or overloaded: a refused or lost connection, no free connection, a server that shuts down, or a
 * lock or statement timeout. A COMMIT may still have happened.
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

/** A constraint violation, a value that does not fit, an error that a trigger raised, a damaged row. */
const DATA_STATES = /^(21|22|23|44|54|P0|XX)/;

/** Whether the error comes from the rows of its transaction, so that the same rows would fail again while others would not. */
export function isCausedByData(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return DATA_STATES.test(state) || isStatementTimeout(error);
  return error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError;
}

/** Whether the database was unreachable, overloaded or shutting down, or aborted the transaction because of concurrent ones. */
export function isDatabaseAway(error: unknown): boolean {
  return !isStatementTimeout(error) && (isUnavailable(error) || isRetryable(error));
}

/** Whether a statement took longer than its session allows: it reads too much, or the server is overloaded. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === "57014";
}

function property(error: unknown, name: string): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}
