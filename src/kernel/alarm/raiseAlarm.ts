import type { Logger } from "pino";
import type { AlarmName } from "./alarmTable.ts";

export type AlarmFacts = { alarm: AlarmName } & Readonly<Record<string, unknown>>;

/** An alarm that code met, until the alarm checks take it over. */
export type Incident = { readonly alarm: AlarmName; readonly subject: string };

/** Far more than the checks find between two runs. The log has them all. */
const INCIDENTS_MAX = 1_000;
/** The fields that tell two alarms of one name apart, in this order. */
const SUBJECT_FIELDS = ["chain", "provider", "settlement", "intent", "deposit"] as const;

/** Incidents by the log of their process, which every part that raises one has. */
const incidents = new WeakMap<Logger, Incident[]>();

/** Logs an alarm as `error` with its name, and keeps it for `tributary status` and the metrics. */
export function raiseAlarm(log: Logger, facts: AlarmFacts, message: string): void {
  log.error(facts, message);
  const waiting = incidents.get(log) ?? [];
  incidents.set(log, waiting);
  if (waiting.length < INCIDENTS_MAX) waiting.push({ alarm: facts.alarm, subject: subjectOf(facts) });
}

/** Returns the incidents since the last call. */
export function takeIncidents(log: Logger): Incident[] {
  const taken = incidents.get(log) ?? [];
  incidents.delete(log);
  return taken;
}

function subjectOf(facts: AlarmFacts): string {
  return SUBJECT_FIELDS.flatMap((field) => {
    const value = facts[field];
    return typeof value === "string" ? [value] : [];
  }).join(" ");
}
