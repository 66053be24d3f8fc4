import { parseTime } from "../kernel/text/parseTime.ts";
import type { ProcessEnvironment } from "../config/config.ts";
import { UsageError } from "../operator/errors.ts";

// Parses option values. Each UsageError names the option and the accepted form, and never quotes a value that may be
// secret.

type OptionValues = Readonly<Record<string, string>>;

/** Reads --timeout, in seconds, and returns milliseconds. */
export function readTimeoutMs(values: OptionValues, fallbackS: number): number {
  const value = values["timeout"] ?? String(fallbackS);
  const seconds = /^\d{1,9}(?:\.\d{1,3})?$/.test(value) ? Number(value) : 0;
  if (seconds > 0) return seconds * 1_000;
  throw new UsageError(`--timeout must be a number of seconds above 0, not ${value}.`);
}

/** Reads an http or https URL; undefined when the option is absent. */
export function readWebUrl(values: OptionValues, option: string): string | undefined {
  const value = values[option];
  if (value === undefined || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) return value;
  throw new UsageError(`--${option} must be an http(s) URL.`);
}

/** Reads the environment variable that the option names; undefined when the option is absent. */
export function readEnvVariable(
  { values, environment }: { values: OptionValues; environment: ProcessEnvironment },
  option: string,
): string | undefined {
  const name = values[option];
  if (name === undefined) return undefined;
  const value = environment[name];
  if (value !== undefined && value !== "") return value;
  throw new UsageError(`--${option} names an environment variable that is not set.`);
}

/** Reads a day or time and returns ISO 8601; undefined when the option is absent. */
export function readTime(values: OptionValues, option: string): string | undefined {
  const value = values[option];
  const time = value === undefined ? undefined : parseTime(value);
  if (value === undefined || time !== undefined) return time;
  throw new UsageError(
    `--${option} must be a day such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z, not ${value}.`,
  );
}
