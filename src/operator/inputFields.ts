import { CommandError } from "./errors.ts";

// What a command sends to the process that does the work. Both are this program, so a wrong shape is a mistake of ours or of
// another version, and one sentence is enough.

export function optionalText(input: unknown, key: string): string | undefined {
  const value = getField(input, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new CommandError(`${key} must be a text.`);
  return value;
}

export function requiredText(input: unknown, key: string): string {
  const value = optionalText(input, key);
  if (value === undefined || value === "") throw new CommandError(`${key} is missing.`);
  return value;
}

/** A whole number from `least` to `most`, also as text, as it was typed. */
export function optionalNumber(
  input: unknown,
  key: string,
  { min, max }: { min: number; max: number },
): number | undefined {
  const value = getField(input, key);
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new CommandError(`${key} must be a whole number from ${min} to ${max}.`);
}

export function getField(input: unknown, key: string): unknown {
  return typeof input === "object" && input !== null && Object.hasOwn(input, key) ? Reflect.get(input, key) : undefined;
}
