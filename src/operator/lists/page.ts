import { optionalNumber, optionalText } from "../operation/inputFields.ts";

/** One page of a list. `nextCursor` is the `cursor` of the next page, null at the end. */
export type Page<T> = { data: T[]; nextCursor: string | null };

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 1_000;

/** The fields of every list. */
export const PAGE_FIELDS = { limit: optionalNumber({ min: 1, max: LIMIT_MAX }), cursor: optionalText } as const;

export function limitOf({ limit }: { limit: number | undefined }): number {
  return limit ?? LIMIT_DEFAULT;
}

/** `rows` has one more than `limit` when another page follows. */
export function toPage<T>(rows: readonly T[], limit: number, cursorOf: (row: T) => string): Page<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
