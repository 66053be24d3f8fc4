import { FatalError } from "../kernel/assert.ts";
import { isSessionFatal, sqlState, type ClassifiedError } from "../kernel/errors/classifyError.ts";

// Errors of the database and its sessions. What an error asks of its caller is decided by
// src/kernel/errors/classifyError.ts.

/** The embedded database crashed. Its state cannot be trusted. */
export class DatabaseCrashed extends FatalError {
  override readonly name = "DatabaseCrashed";
}

/** The database server does not meet the requirements: it is too old, or it may lose committed transactions. */
export class DatabaseUnusable extends Error {
  override readonly name = "DatabaseUnusable";
}

/** The server takes no writes: it is a standby, or a primary that another server replaces. */
export class DatabaseReadOnly extends Error implements ClassifiedError {
  override readonly name = "DatabaseReadOnly";
  readonly errorClass = "unavailable";

  constructor() {
    super("the database server only allows reads: it is a standby, or another server is taking its place");
  }
}

/** Whether the role lacks a privilege. */
export function isForbidden(error: unknown): boolean {
  return sqlState(error) === "42501";
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
  return isSessionFatal(error) || SESSION_ENDING_STATES.test(sqlState(error) ?? "");
}
