import { CommandError, UsageError } from "../errors.ts";

/**
 * How one field of an operation's input is read. `Given` is what a caller may pass: commands pass options as they were
 * typed. An invalid text throws CommandError, an invalid number UsageError with its option.
 */
export type Field<Value, Given> = {
  read(value: unknown, name: string): Value;
  /** Exists in the type only. */
  readonly given?: Given;
};

export type InputShape = Readonly<Record<string, Field<unknown, unknown>>>;
/** What an operation reads. */
export type InputOf<Shape extends InputShape> = { [Name in keyof Shape]: ReturnType<Shape[Name]["read"]> };
/** What a caller passes. */
export type GivenOf<Shape extends InputShape> = { [Name in keyof Shape]?: Shape[Name]["given"] };

/** Reads the fields. Throws CommandError for a field that the shape does not have: it comes from another version. */
export function readInput<Shape extends InputShape>(shape: Shape, given: unknown): InputOf<Shape> {
  const fields = typeof given === "object" && given !== null ? Object.entries(given) : [];
  const unknown = fields.find(([name, value]) => value !== undefined && !Object.hasOwn(shape, name));
  if (unknown !== undefined)
    throw new CommandError(`The running process does not know ${optionOf(unknown[0])}: it may be another version.`);
  const values = new Map(fields);
  const read = Object.entries(shape).map(([name, field]) => [name, field.read(values.get(name), name)]);
  return Object.fromEntries(read) as InputOf<Shape>;
}

export const requiredText: Field<string, string | undefined> = {
  read(value, name) {
    const text = optionalText.read(value, name);
    if (text === undefined || text === "") throw new CommandError(`${name} is missing.`);
    return text;
  },
};

export const optionalText: Field<string | undefined, string | null | undefined> = {
  read: (value, name) => clearableText.read(value ?? undefined, name) ?? undefined,
};

/** Null removes the value. */
export const clearableText: Field<string | null | undefined, string | null | undefined> = {
  read(value, name) {
    if (value === undefined || value === null || typeof value === "string") return value;
    throw new CommandError(`${name} must be a string.`);
  },
};

export const flag: Field<boolean, boolean | undefined> = { read: (value) => value === true };

type NumberField<Missing> = Field<number | Missing, number | string | null | undefined>;

/** A whole number from `min` to `max`, given as a number or as a string of digits. */
export function optionalNumber(bounds: { min: number; max: number }): NumberField<undefined> {
  return {
    read: (value, name) => (value === undefined || value === null ? undefined : readNumber(value, name, bounds)),
  };
}

/** The same. Null removes the value. */
export function clearableNumber(bounds: { min: number; max: number }): NumberField<null | undefined> {
  return { read: (value, name) => (value === undefined || value === null ? value : readNumber(value, name, bounds)) };
}

/** Whole numbers from 0 by name; undefined where none are given. */
export const optionalNumbers: Field<ReadonlyMap<string, number> | undefined, Record<string, number> | undefined> = {
  read(value, name) {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "object") throw new CommandError(`${name} must be an object.`);
    const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
    return new Map(Object.entries(value).map(([key, number]) => [key, readNumber(number, `${name}.${key}`, bounds)]));
  },
};

function readNumber(value: unknown, name: string, { min, max }: { min: number; max: number }): number {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new UsageError(`${optionOf(name)} must be a whole number from ${min} to ${max}.`);
}

/** The option that sets a field: "feeBps" is --fee-bps. */
function optionOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
