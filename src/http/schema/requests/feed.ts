import { eventTypeNumbers } from "../../../event/event.ts";
import { Fault } from "../../../kernel/faults.ts";
import type { JsonSchema } from "../jsonSchema.ts";

/** Which part of a feed is read, and from where. */
export const feedQuery = {
  after: {
    type: "integer",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: "The sequence of the last event that you have; 0 begins with the first.",
  },
  type: {
    type: "string",
    minLength: 1,
    maxLength: 500,
    description: "Types, separated by commas; `deposit.*` means all below `deposit`.",
  },
  intentId: { type: "string", minLength: 1, maxLength: 100, description: "Only events of this intent." },
} as const satisfies Record<string, JsonSchema>;

/** The numbers of the types that a filter names; undefined for every type. Throws invalid_request. */
export function parseTypes(filter: string | undefined): number[] | undefined {
  return filter?.split(",").flatMap((type) => {
    const numbers = eventTypeNumbers(type);
    if (numbers.length > 0) return numbers;
    throw new Fault("invalid_request", { param: "type", message: `No event has the type ${type}.` });
  });
}
