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

/** The server takes no writes: it is a standby, or a primary that another server replaces. */
export class DatabaseReadOnly extends Error {
  override readonly name = "DatabaseReadOnly";

  constructor() {
    super("the database server only allows reads: it is a standby, or another server is taking its place");
  }
}

/** The five-character SQLSTATE of a database error; undefined for any other error. */
function sqlState(error: unknown): string | undefined {
  const code = property(error, "code");
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && property(error, "severity") !== undefined
    ? code
    : undefined;
}

/** Whether the role lacks a privilege. */
export function isForbidden(error: unknown): boolean {
  return sqlState(error) === "42501";
}

/** Whether the database aborted the transaction only because of concurrent ones, so that it can run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/**
 * The server ends the session with such an error, so that it says nothing about rows. Translated servers translate the
 * word.
 */
function isFatal(error: unknown): boolean {
  return /^(FATAL|PANIC)$/.test(property(error, "severity") ?? "");
}

/** Whether the server refused a write because it only allows reads. */
export function isReadOnlyServer(error: unknown): boolean {
  return error instanceof DatabaseReadOnly || sqlState(error) === "25006";
}

/**
 * A prepared statement that no longer fits the tables or is gone, a server that only allows reads, a session that was
 * idle in a transaction, and a connection that the server ends.
 */
const SESSION_ENDING_STATES = /^(0A000|26000|25006|25P0[34]|08...|57P..)$/;

/** Whether the session of the error must not be used again. */
export function endsSession(error: unknown): boolean {
  return isFatal(error) || SESSION_ENDING_STATES.test(sqlState(error) ?? "");
}

/**
 * No connection, no resources, an operator's intervention, a system error, a read-only server, an ended session, a lock
 * timeout.
 */
const UNAVAILABLE_STATES = /^(08...|53...|57...|58...|25006|25P0[34]|55P03)$/;

/**
 * Whether the database was unreachable or overloaded: a refused or lost connection, no free connection, a server that
 * shuts down or only allows reads, or a lock or statement timeout. A COMMIT may still have happened.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseReadOnly) return true;
  const state = sqlState(error);
  if (state !== undefined) return UNAVAILABLE_STATES.test(state) || (isFatal(error) && state.startsWith("XX"));
  // The socket of a server on the same machine is a file.
  if (property(error, "syscall") === "connect") return true;
  const code = property(error, "code");
  if (code !== undefined && /^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/.test(code)) return true;
  return (
    error instanceof Error &&
    /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|Query read timeout)/.test(
      error.message,
    )
  );
}

/** A constraint violation, a value that does not fit, an error that a trigger raised, a damaged row. */
const DATA_STATES = /^(21|22|23|44|54|P0|XX)/;

/**
 * Whether the error comes from the rows of its transaction, so that the same rows would fail again while others would
 * not.
 */
export function isCausedByData(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return !isFatal(error) && (DATA_STATES.test(state) || isStatementTimeout(error));
  return error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError;
}

/**
 * Whether the database was unreachable, overloaded or shutting down, or aborted the transaction because of concurrent
 * ones.
 */
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
