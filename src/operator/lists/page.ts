import { optionalNumber, optionalText } from "../inputFields.ts";

/** One page of a list. `nextCursor` is the `cursor` of the next page, null at the end. */
export type Page<T> = { data: T[]; nextCursor: string | null };

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;

/** Reads `limit` and `cursor`. Throws CommandError. */
export function readPage(input: unknown): { limit: number; cursor: string | undefined } {
  return {
    limit: optionalNumber(input, "limit", { min: 1, max: LIMIT_MAX }) ?? LIMIT_DEFAULT,
    cursor: optionalText(input, "cursor"),
  };
}

/** `rows` has one more than `limit` when another page follows. */
export function toPage<T>(rows: readonly T[], limit: number, cursorOf: (row: T) => string): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
