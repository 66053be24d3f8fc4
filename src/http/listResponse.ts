export type ListPage = { records: readonly object[]; hasMore: boolean; nextCursor: string };

/** Formats a page of a list. `next_cursor` is always a string; it is empty on the last page. */
export function toListResponse({ records, hasMore, nextCursor }: ListPage): object {
  return { object: "list", data: records, has_more: hasMore, next_cursor: nextCursor };
}
