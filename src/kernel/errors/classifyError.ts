import { FatalError } from "../assert.ts";

/**
 * What an error asks of the code that catches it:
 * - `fatal`: the process can no longer be trusted and must end.
 * - `conflict`: the database aborted the transaction only because of concurrent ones; it can run again at once.
 * - `unavailable`: the database is unreachable, overloaded, shutting down or read-only. A COMMIT may still have
 * happened.
 * - `timeout`: a statement took longer than its session allows: it reads too much, or the server is overloaded.
 * - `data`: the rows of the transaction cause it; the same rows would fail again, while others would not.
 * - `other`: everything else, such as a provider's fault.
 */
export type ErrorClass = "fatal" | "conflict" | "unavailable" | "timeout" | "data" | "other";

/** An error that names its class itself. */
export interface ClassifiedError {
  readonly errorClass: ErrorClass;
}

const CONFLICT_STATES = /^(40001|40P01)$/;
const TIMEOUT_STATE = "57014";
/**
 * No connection, no resources, an operator's intervention, a system error, a read-only server, an ended session, a lock
 * timeout.
 */
const UNAVAILABLE_STATES = /^(08...|53...|57...|58...|25006|25P0[34]|55P03)$/;
/** A constraint violation, a value that does not fit, an error that a trigger raised, a damaged row. */
const DATA_STATES = /^(21|22|23|44|54|P0|XX)/;

const CONNECTION_CODE = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|NOTFOUND|AI_)/;
const CONNECTION_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|Query read timeout)/;

/** Decides once what an error is. Callers decide what they do with it. */
export function classifyError(error: unknown): ErrorClass {
  if (error instanceof FatalError) return "fatal";
  if (isClassified(error)) return error.errorClass;
  const state = sqlState(error);
  if (state !== undefined) return classifyState(state, isSessionFatal(error));
  // The socket of a server on the same machine is a file.
  if (property(error, "syscall") === "connect") return "unavailable";
  if (CONNECTION_CODE.test(property(error, "code") ?? "")) return "unavailable";
  if (error instanceof Error && CONNECTION_MESSAGE.test(error.message)) return "unavailable";
  return error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError ? "data" : "other";
}

/** Whether the same rows would fail again, so that others must not wait for them. */
export function isCausedByData(error: unknown): boolean {
  const found = classifyError(error);
  return found === "data" || found === "timeout";
}

/** Whether no work on any row can go on: the process must end, or the database is away. */
export function stopsAllWork(error: unknown): boolean {
  return classifyError(error) === "fatal" || isDatabaseAway(error);
}

/** Whether the database was unreachable, overloaded or shutting down, or aborted the transaction for another one. */
export function isDatabaseAway(error: unknown): boolean {
  const found = classifyError(error);
  return found === "unavailable" || found === "conflict";
}

/** Whether the same call may succeed a little later, without a change of its rows. */
export function isServiceBusy(error: unknown): boolean {
  const found = classifyError(error);
  return found === "unavailable" || found === "timeout";
}

/** The five-character SQLSTATE of a database error; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const code = property(error, "code");
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && property(error, "severity") !== undefined
    ? code
    : undefined;
}

/**
 * The server ends the session with such an error, so that it says nothing about rows. Translated servers translate the
 * word.
 */
export function isSessionFatal(error: unknown): boolean {
  return /^(FATAL|PANIC)$/.test(property(error, "severity") ?? "");
}

function classifyState(state: string, isFatal: boolean): ErrorClass {
  if (CONFLICT_STATES.test(state)) return "conflict";
  if (state === TIMEOUT_STATE && !isFatal) return "timeout";
  if (UNAVAILABLE_STATES.test(state) || (isFatal && state.startsWith("XX"))) return "unavailable";
  return !isFatal && DATA_STATES.test(state) ? "data" : "other";
}

function isClassified(error: unknown): error is ClassifiedError {
  return property(error, "errorClass") !== undefined;
}

function property(error: unknown, name: string): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}
