import { closestMatch } from "../kernel/text/closestMatch.ts";

/** The configuration is invalid. The message is one sentence: the field, the mistake, the remedy. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** One object of the configuration file. `path` locates it, such as `chains[0]`; the file itself has the path "". */
export type ConfigSection = { readonly path: string; readonly fields: Readonly<Record<string, unknown>> };

/** The rule of one field. `parse` returns undefined for an invalid value. */
export type FieldRule<T> = {
  /** Completes the sentence "give …" of the error. */
  expected: string;
  parse(value: unknown): T | undefined;
  /** Errors never quote the value: users may put a secret where only its name belongs. */
  isSecret?: boolean;
};

/** Reads an object. Throws ConfigError for an unknown key, because its setting would silently have no effect. */
export function readSection(value: unknown, options: { path: string; known: readonly string[] }): ConfigSection {
  const { path, known } = options;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigError(`${path || "the file"}: ${quoteValue(value)} is not an object; give {…}.`);
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = closestMatch(key, known);
    const remedy = meant === undefined ? `the keys here are ${known.join(", ")}` : `did you mean ${meant}?`;
    const where = looksLikeSecret(key)
      ? `${path || "the file"}: unknown key (not shown, it looks like a password)`
      : `${fieldPath({ path }, key)}: unknown key`;
    throw new ConfigError(`${where}; ${remedy}`);
  }
  return { path, fields: { ...value } };
}

/** The full path of a key, such as `chains[1].tokens[0].decimals`. */
export function fieldPath(section: { path: string }, key: string): string {
  return section.path === "" ? key : `${section.path}.${key}`;
}

export function hasField(section: ConfigSection, key: string): boolean {
  return section.fields[key] !== undefined && section.fields[key] !== null;
}

/**
 * Reads a field, or returns `fallback` when it is absent. Throws ConfigError for an invalid value, or an absent one
 * without fallback.
 */
export function readField<T>(
  section: ConfigSection,
  key: string,
  rule: FieldRule<T> & { fallback?: T | undefined },
): T {
  const value = section.fields[key];
  if (!hasField(section, key)) {
    if (rule.fallback !== undefined) return rule.fallback;
    throw new ConfigError(`${fieldPath(section, key)}: missing; give ${rule.expected}.`);
  }
  const parsed = rule.parse(value);
  if (parsed === undefined) {
    const quoted = rule.isSecret === true ? "the value" : quoteValue(value);
    throw new ConfigError(`${fieldPath(section, key)}: ${quoted} is not accepted; give ${rule.expected}.`);
  }
  return parsed;
}

/** Reads a list with at least one entry. Throws ConfigError. */
export function readList<T>(section: ConfigSection, key: string, readEntry: (entry: unknown, path: string) => T): T[] {
  const value = readField(section, key, {
    expected: "a list with at least one entry",
    parse: (value) => (Array.isArray(value) && value.length > 0 ? (value as unknown[]) : undefined),
  });
  return value.map((entry, index) => readEntry(entry, `${fieldPath(section, key)}[${index}]`));
}

/** Throws ConfigError when two entries share a unique value. */
export function rejectDuplicates<T>(
  entries: readonly T[],
  options: { path: string; key: string; of(entry: T): string },
): void {
  const first = new Map<string, number>();
  entries.forEach((entry, index) => {
    const value = options.of(entry);
    const firstIndex = first.get(value);
    if (firstIndex !== undefined) {
      const other = `${options.path}[${firstIndex}]`;
      throw new ConfigError(
        `${options.path}[${index}].${options.key}: ${quoteValue(value)} is already used by ${other}; remove one of them or change it.`,
      );
    }
    first.set(value, index);
  });
}

const QUOTED_CHARACTERS_MAX = 80;

/** Quotes a value for an error message; "the value" when it may be a secret. */
export function quoteValue(value: unknown): string {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0)
    return Array.isArray(value) ? "a list" : "an object";
  if (typeof value === "string" && looksLikeSecret(value)) return "the value";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > QUOTED_CHARACTERS_MAX ? `${text.slice(0, QUOTED_CHARACTERS_MAX)}…` : text;
}

/**
 * True for URLs, which may contain a password or a provider's key, for private keys, and for long strings without
 * separators.
 */
function looksLikeSecret(text: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return false;
  return /@|:\/|[0-9a-f]{60}/i.test(text) || /[^\s/._]{32}/.test(text);
}

/** Names the variable or file of a secret in an error; hides a name that may be the secret itself. */
export function quoteSource(name: string): string {
  return looksLikeSecret(name) ? "that is named there" : name;
}
