import type { Logger } from "pino";
import type { SimProcess } from "./simProcess.ts";
import type { Trace } from "./trace.ts";

/**
 * Writes errors and warnings to the trace, and drops all other log lines. It throws nothing, because a task without an
 * awaiter logs in its last handler. It also drops the lines of a process that has ended.
 */
export function createTraceLogger(process: SimProcess, trace: Trace): Logger {
  const traceLine = (level: string) => (facts: unknown, message?: string) => {
    if (process.isEnded()) return;
    trace.append(process.name, `${level} ${message ?? ""} ${formatFields(facts)}`);
  };
  const silent = () => undefined;
  const log = {
    level: "warn",
    error: traceLine("error"),
    fatal: traceLine("fatal"),
    warn: traceLine("warn"),
    info: silent,
    debug: silent,
  };
  return log as unknown as Logger;
}

function formatFields(facts: unknown): string {
  if (typeof facts !== "object" || facts === null) return String(facts);
  return Object.entries(facts)
    .map(
      ([name, value]) =>
        `${name}=${value instanceof Error ? value.message : JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? String(each) : each))}`,
    )
    .join(" ");
}
