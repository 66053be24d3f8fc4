import type { Environment } from "../config.ts";
import { UsageRefused } from "./command.ts";

// Values as they are typed behind an option. Each refusal names the option and what would be right, and never quotes what may be secret.

type Texts = Readonly<Record<string, string>>;

/** Milliseconds. */
export function readTimeoutMs(text: Texts, fallbackS: number): number {
  const typed = text["timeout"] ?? String(fallbackS);
  const seconds = /^\d{1,9}(?:\.\d{1,3})?$/.test(typed) ? Number(typed) : 0;
  if (seconds > 0) return seconds * 1_000;
  throw new UsageRefused(`--timeout takes a number of seconds above 0, not ${typed}.`);
}

/** Undefined when the option was not given. */
export function readWebUrl(text: Texts, option: string): string | undefined {
  const typed = text[option];
  if (typed === undefined || (URL.canParse(typed) && /^https?:$/.test(new URL(typed).protocol))) return typed;
  throw new UsageRefused(`--${option} must be an http(s) URL.`);
}

/** What the environment variable holds that the option names; undefined when the option was not given. */
export function readNamedVariable(
  { text, environment }: { text: Texts; environment: Environment },
  option: string,
): string | undefined {
  const name = text[option];
  if (name === undefined) return undefined;
  const value = environment[name];
  if (value !== undefined && value !== "") return value;
  throw new UsageRefused(`--${option} names an environment variable that is not set.`);
}

/** A day or a time in UTC, as ISO 8601 with both; undefined when it is neither. */
export function parseTime(typed: string): string | undefined {
  if (!/^[1-9]\d{3}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/.test(typed)) return undefined;
  const time = new Date(typed);
  if (Number.isNaN(time.getTime())) return undefined;
  const iso = time.toISOString();
  // The thirtieth of February would be a day of March.
  return iso.startsWith(typed.slice(0, "2026-11-01".length)) ? iso : undefined;
}

/** As ISO 8601; undefined when the option was not given. */
export function readTime(text: Texts, option: string): string | undefined {
  const typed = text[option];
  const time = typed === undefined ? undefined : parseTime(typed);
  if (typed === undefined || time !== undefined) return time;
  throw new UsageRefused(
    `--${option} must be a day such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z, not ${typed}.`,
  );
}
