export type ListPage = { records: readonly object[]; hasMore: boolean; nextCursor: string };

/** A page of a list as every list answers. `next_cursor` is a string also where nothing follows: then it is empty. */
export function toListResponse({ records, hasMore, nextCursor }: ListPage): object {
  return { object: "list", data: records, has_more: hasMore, next_cursor: nextCursor };
}
