import { ProviderFailed } from "../reader.ts";

// Parsers for JSON from a provider, of every kind of chain.

export function parseObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformedValue(what, value);
  return value as Readonly<Record<string, unknown>>;
}

export function parseArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformedValue(what, value);
  return value;
}

export function malformedValue(what: string, value: unknown): ProviderFailed {
  const shown = typeof value === "string" ? value.slice(0, 80) : typeof value;
  return new ProviderFailed("bad_answer", `the provider sent ${shown} where ${what} was expected`);
}
