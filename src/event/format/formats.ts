import { assert } from "../../kernel/assert.ts";
import { depositFormat1 } from "./depositFormat.ts";
import type { Format, Stored } from "./format.ts";
import { intentFormat1 } from "./intentFormat.ts";
import { settlementFormat1 } from "./settlementFormat.ts";
import { sourceInboxFormat1 } from "./sourceInboxFormat.ts";

/** Stores a resource as its JSON. Resources that change rarely need no shorter form. */
const jsonFormat: Format = {
  store: (object, previous) => [object as Stored, previous as Stored],
  show: (content) => {
    const [object, previous] = content as [object, object | null];
    return { object, previous };
  },
};

const JSON_FORMAT = 0;

/** Each format by its number, which never changes. */
const FORMATS: Readonly<Record<number, Format>> = {
  [JSON_FORMAT]: jsonFormat,
  1: intentFormat1,
  2: depositFormat1,
  3: settlementFormat1,
  4: sourceInboxFormat1,
};

/** The number of the format in which a resource is stored now, by its `object`. */
const CURRENT: Readonly<Record<string, number>> = { payment_intent: 1, deposit: 2, settlement: 3, source_inbox: 4 };

export function currentFormat(resource: object): number {
  return CURRENT[String(Reflect.get(resource, "object"))] ?? JSON_FORMAT;
}

export function getFormat(number: number): Format {
  const format = FORMATS[number];
  assert(format !== undefined, `this version knows no format ${number} of events`);
  return format;
}
