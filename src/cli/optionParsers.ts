import { parseTime } from "../kernel/text/parseTime.ts";
import type { ProcessEnvironment } from "../config/config.ts";
import { UsageError } from "../operator/errors.ts";

// Values as they are typed behind an option. Each refusal names the option and what would be right, and never quotes what may be secret.

type OptionValues = Readonly<Record<string, string>>;

/** Milliseconds. */
export function readTimeoutMs(text: OptionValues, fallbackS: number): number {
  const value = text["timeout"] ?? String(fallbackS);
  const seconds = /^\d{1,9}(?:\.\d{1,3})?$/.test(value) ? Number(value) : 0;
  if (seconds > 0) return seconds * 1_000;
  throw new UsageError(`--timeout takes a number of seconds above 0, not ${value}.`);
}

/** Undefined when the option was not given. */
export function readWebUrl(text: OptionValues, option: string): string | undefined {
  const value = text[option];
  if (value === undefined || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) return value;
  throw new UsageError(`--${option} must be an http(s) URL.`);
}

/** What the environment variable holds that the option names; undefined when the option was not given. */
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

/** As ISO 8601; undefined when the option was not given. */
export function readTime(text: OptionValues, option: string): string | undefined {
  const value = text[option];
  const time = value === undefined ? undefined : parseTime(value);
  if (value === undefined || time !== undefined) return time;
  throw new UsageError(
    `--${option} must be a day such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z, not ${value}.`,
  );
}
