import { CommandError, UsageError } from "./errors.ts";

// Reads the input of an operation. An invalid text throws CommandError, an invalid number UsageError with its option.

export function optionalText(input: unknown, key: string): string | undefined {
  const value = getField(input, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new CommandError(`${key} must be a string.`);
  return value;
}

export function requiredText(input: unknown, key: string): string {
  const value = optionalText(input, key);
  if (value === undefined || value === "") throw new CommandError(`${key} is missing.`);
  return value;
}

/** Reads a whole number from `min` to `max`, given as a number or as a string of digits. */
export function optionalNumber(
  input: unknown,
  key: string,
  { min, max }: { min: number; max: number },
): number | undefined {
  const value = getField(input, key);
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new UsageError(`${optionOf(key)} must be a whole number from ${min} to ${max}.`);
}

/** The option that sets a field: "feeBps" is --fee-bps. */
function optionOf(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function getField(input: unknown, key: string): unknown {
  return typeof input === "object" && input !== null && Object.hasOwn(input, key) ? Reflect.get(input, key) : undefined;
}
