import type { FastifyReply, FastifyRequest } from "fastify";
import { addMs, DAY_MS, parseInstant, type Clock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";

/** Supported versions, oldest first. A date resolves to the newest version that is not after it. */
export const API_VERSIONS = ["2026-11-01"] as const;

const EARLIEST_VERSION = "2020-01-01";

/**
 * Resolves the Service-Version header and sets the response's. Throws missing_version, invalid_version or
 * unsupported_version.
 */
export function checkVersion(clock: Clock, request: FastifyRequest, reply: FastifyReply): void {
  const version = resolveVersion(request.headers["service-version"], clock.now());
  reply.header("service-version", version);
}

function resolveVersion(header: string | readonly string[] | undefined, now: Date): string {
  const exact = API_VERSIONS.find((version) => version === header);
  if (exact !== undefined) return exact;
  if (header === undefined) throw versionFault("missing_version");
  if (typeof header !== "string" || !isCalendarDate(header)) throw versionFault("invalid_version");
  const tomorrow = addMs(now, DAY_MS).toISOString().slice(0, 10);
  if (header < EARLIEST_VERSION || header > tomorrow) throw versionFault("unsupported_version");
  return API_VERSIONS.findLast((version) => version <= header) ?? API_VERSIONS[0];
}

// Date turns 30 February into a day in March, so the date must survive a round trip.
function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  return parseInstant(`${text}T00:00:00Z`)?.toISOString().slice(0, 10) === text;
}

function versionFault(code: "missing_version" | "invalid_version" | "unsupported_version"): Fault {
  return new Fault(code, { param: "Service-Version", details: { supported: API_VERSIONS } });
}
