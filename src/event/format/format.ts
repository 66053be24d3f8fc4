import { assert } from "../../kernel/assert.ts";
import type { PinnedIntent } from "./pinnedIntent.ts";

/** A JSON value as an event stores it. */
export type Stored = null | number | string | readonly Stored[] | { readonly [name: string]: Stored };

/**
 * What a field is rendered from: its stored value, the pinned columns of the event's intent, and the time of the event.
 */
export type FieldContext = {
  readonly intent: PinnedIntent | undefined;
  readonly at: Date;
  readonly values: Values;
};

/** The stored values by the names of their fields. */
type Values = Readonly<Record<string, Stored>>;

/** One field of a resource. A field that follows from pinned columns or from other fields has no `store`. */
export type Field = {
  readonly name: string;
  readonly store?: (value: unknown, atMs: number) => Stored;
  /** Undefined leaves the field out. */
  readonly show: (stored: Stored, context: FieldContext) => unknown;
};

/**
 * How an event of one resource is stored, and shown again. It never changes once events are stored in it: a field that
 * is added, or shown in another way, is a new format with a new number.
 */
export type Format = {
  /** The stored form of a resource and of the earlier values of its changed fields. */
  store(resource: object, previous: object | null, atMs: number): Stored;
  /** The `data` of the event, as JSON. */
  show(content: Stored, context: Omit<FieldContext, "values">): { object: object; previous: object | null };
};

/**
 * A format whose stored form is the list of the values in the order of `fields`, followed by the earlier values by
 * their positions. The order of `fields` is the order of the JSON.
 */
export function defineFormat(fields: readonly Field[]): Format {
  const stored = fields.filter((field) => field.store !== undefined);
  const names = new Set(fields.map(({ name }) => name));
  const positions = new Map(stored.map(({ name }, position) => [name, position]));
  return {
    store(resource, previous, atMs) {
      const unknown = Object.keys(resource).find((name) => !names.has(name));
      assert(unknown === undefined, `no format of events has the field ${unknown}`);
      const values = stored.map((field) => field.store?.(Reflect.get(resource, field.name), atMs) ?? null);
      if (previous === null) return values;
      const earlier = Object.entries(previous).map(([name, value]) => {
        const position = positions.get(name);
        assert(position !== undefined, `no event can show an earlier ${name}`);
        return [String(position), stored[position]?.store?.(value, atMs) ?? null] as const;
      });
      return [...values, Object.fromEntries(earlier)];
    },
    show(content, { intent, at }) {
      assert(Array.isArray(content), "the content of an event is no list");
      const list: readonly Stored[] = content;
      const valuesOf = (value: (position: number) => Stored) =>
        Object.fromEntries(stored.map(({ name }, position) => [name, value(position)]));
      const values = valuesOf((position) => list[position] ?? null);
      const object = showFields(fields, { intent, at, values });
      const earlier = list[stored.length];
      if (!isRecord(earlier)) return { object, previous: null };
      const before = valuesOf((position) => {
        const value = String(position) in earlier ? earlier[String(position)] : list[position];
        return value ?? null;
      });
      const changed = stored.filter((_, position) => String(position) in earlier);
      return { object, previous: showFields(changed, { intent, at, values: before }) };
    },
  };
}

function showFields(fields: readonly Field[], context: FieldContext): object {
  const shown: Record<string, unknown> = {};
  for (const { name, show } of fields) {
    const value = show(context.values[name] ?? null, context);
    if (value !== undefined) shown[name] = value;
  }
  return shown;
}

function isRecord(value: Stored | undefined): value is { readonly [name: string]: Stored } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
