/** The response of a list operation. */
export type Page<Entry> = { readonly data: readonly Entry[]; readonly has_more: boolean; readonly next_cursor: string };

export type PageQuery = { limit?: number | undefined; cursor?: string | undefined };

export type PaginateOptions = {
  /** The most pages to read; 10,000 by default. */
  readonly pagesMax?: number;
};

const PAGES_MAX_DEFAULT = 10_000;

/**
 * Yields every entry of a list, newest first, page by page:
 * `for await (const intent of paginate(tributary.listPaymentIntents, { limit: 100 }))`.
 * For a list of one intent: `paginate((query) => tributary.listIntentDeposits(intentId, query))`.
 * Throws a RangeError when the list is longer than `pagesMax` pages.
 */
export async function* paginate<Query extends PageQuery, Entry>(
  list: (query: Query) => Promise<Page<Entry>>,
  query: Query = {} as Query,
  { pagesMax = PAGES_MAX_DEFAULT }: PaginateOptions = {},
): AsyncGenerator<Entry, void, undefined> {
  let nextQuery = query;
  for (let pages = 1; pages <= pagesMax; pages += 1) {
    const { data, has_more: hasMore, next_cursor: cursor } = await list(nextQuery);
    yield* data;
    if (!hasMore) return;
    nextQuery = { ...query, cursor };
  }
  throw new RangeError(`The list did not end within ${pagesMax} pages.`);
}
