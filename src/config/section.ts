import { closestMatch } from "../kernel/text/closestMatch.ts";

/** The configuration is wrong. The message is one sentence that names the place and the remedy. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** One object of the configuration file, and where it stands in it. */
export type ConfigSection = { readonly path: string; readonly fields: Readonly<Record<string, unknown>> };

/** What a field must be. `parse` answers undefined to whatever it does not accept. */
export type FieldRule<T> = {
  /** Completes the sentence "give …". */
  expected: string;
  parse(value: unknown): T | undefined;
  /** Whatever stands there is not quoted: where a secret is only named, somebody puts the secret itself. */
  isSecret?: boolean;
};

/** An object whose keys are all known: a key that nobody reads would be a setting that silently does not hold. */
export function readSection(value: unknown, options: { path: string; known: readonly string[] }): ConfigSection {
  const { path, known } = options;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigError(`${path || "the file"}: ${quoteValue(value)} is not an object, give {…}.`);
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = closestMatch(key, known);
    const remedy = meant === undefined ? `the keys here are ${known.join(", ")}` : `did you mean ${meant}?`;
    const where = looksLikeSecret(key)
      ? `${path || "the file"}: a key that is not told here`
      : `${fieldPath({ path }, key)}: this key`;
    throw new ConfigError(`${where} is not known; ${remedy}`);
  }
  return { path, fields: { ...value } };
}

/** Where a key stands, such as `chains[1].tokens[0].decimals`. */
export function fieldPath(section: { path: string }, key: string): string {
  return section.path === "" ? key : `${section.path}.${key}`;
}

export function hasField(section: ConfigSection, key: string): boolean {
  return section.fields[key] !== undefined && section.fields[key] !== null;
}

/** The field, or `fallback` where it is left out; without a fallback it must be there. */
export function readField<T>(
  section: ConfigSection,
  key: string,
  rule: FieldRule<T> & { fallback?: T | undefined },
): T {
  const value = section.fields[key];
  if (!hasField(section, key)) {
    if (rule.fallback !== undefined) return rule.fallback;
    throw new ConfigError(`${fieldPath(section, key)}: it is missing, give ${rule.expected}.`);
  }
  const parsed = rule.parse(value);
  if (parsed === undefined) {
    const quoted = rule.isSecret === true ? "it" : quoteValue(value);
    throw new ConfigError(`${fieldPath(section, key)}: ${quoted} is not accepted, give ${rule.expected}.`);
  }
  return parsed;
}

/** A list that has an entry at least. */
export function readList<T>(section: ConfigSection, key: string, readEntry: (entry: unknown, path: string) => T): T[] {
  const value = readField(section, key, {
    expected: "a list with at least one entry",
    parse: (given) => (Array.isArray(given) && given.length > 0 ? (given as unknown[]) : undefined),
  });
  return value.map((entry, index) => readEntry(entry, `${fieldPath(section, key)}[${index}]`));
}

/** Refuses the second of two entries that share what must be unique among them. */
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
        `${options.path}[${index}].${options.key}: ${quoteValue(value)} is that of ${other} already, remove one of the two or change it.`,
      );
    }
    first.set(value, index);
  });
}

const QUOTED_CHARACTERS_MAX = 80;

/** A value as the sentence about it quotes it; "it" where a secret may have been put in the wrong place. */
export function quoteValue(value: unknown): string {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0)
    return Array.isArray(value) ? "a list" : "an object";
  if (typeof value === "string" && looksLikeSecret(value)) return "it";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > QUOTED_CHARACTERS_MAX ? `${text.slice(0, QUOTED_CHARACTERS_MAX)}…` : text;
}

/** URLs, which often have a password or a provider's key in them, private keys, and whatever is as long and as shapeless as a secret is. */
function looksLikeSecret(text: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return false;
  return /@|:\/|[0-9a-f]{60}/i.test(text) || /[^\s/._]{32}/.test(text);
}

/** A variable or a file that a secret is read from, as a sentence calls it. */
export function quoteSource(name: string): string {
  return looksLikeSecret(name) ? "that is named there" : name;
}
