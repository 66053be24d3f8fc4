import { pino, stdTimeFunctions, type DestinationStream, type Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { Style, Terminal } from "./terminal.ts";

type Level = Config["logLevel"];

const LEVEL_NAMES: Readonly<Record<number, [name: string, style: Style]>> = {
  20: ["debug", "dim"],
  30: ["info", "green"],
  40: ["warn", "yellow"],
  50: ["error", "red"],
  60: ["fatal", "red"],
};
/** Standard fields that the readable format omits or shows elsewhere. */
const HIDDEN_FIELDS: ReadonlySet<string> = new Set(["level", "time", "pid", "hostname", "msg", "err"]);
const VALUE_CHARACTERS_MAX = 200;

/** Fields that would contain a secret if a whole object were logged by mistake. */
const redact = [
  "gasKey",
  "*.gasKey",
  "feePayerKey",
  "*.feePayerKey",
  "apiKey",
  "*.apiKey",
  "widgetToken",
  "*.widgetToken",
  "*.headers.authorization",
];

const formatters = { level: (label: string) => ({ level: label }) };

/** Logs JSON lines to standard error, with the level as a word and the time in UTC. */
export function openJsonLog(level: Level, destination?: DestinationStream): Logger {
  return pino(
    { level, redact, formatters, timestamp: stdTimeFunctions.isoTime },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** Logs readable lines to the terminal. */
export function openReadableLog(level: Level, terminal: Terminal): Logger {
  return pino({ level, redact }, { write: (line: string) => terminal.note(formatLogLine(line, terminal)) });
}

function formatLogLine(line: string, terminal: Terminal): string {
  const entry = JSON.parse(line) as Record<string, unknown>;
  const [name, style] = LEVEL_NAMES[Number(entry["level"])] ?? ["log", "dim"];
  const details = Object.entries(entry)
    .filter(([key]) => !HIDDEN_FIELDS.has(key))
    .map(([key, value]) => `${key}=${truncate(value)}`);
  const cause = formatCause(entry["err"]);
  if (cause !== undefined) details.push(cause);
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  return `${terminal.paint(style, name.padEnd(5))} ${message} ${terminal.paint("dim", details.join(" "))}`.trimEnd();
}

function formatCause(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return `(${truncate(error.message)})`;
}

function truncate(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > VALUE_CHARACTERS_MAX ? `${text.slice(0, VALUE_CHARACTERS_MAX)}…` : text;
}
