import type { ServerResponse } from "node:http";
import type { FeedPage, FeedQuery } from "../../event/listEvents.ts";
import { Fault } from "../../kernel/faults.ts";

/** What a stream shows: an account's feed, or a part of it. */
export type StreamedFeed = Pick<FeedQuery, "accountId" | "types" | "intentId">;

export type FeedStreamOptions = {
  feed: StreamedFeed;
  response: ServerResponse;
  /** Reads the page behind a sequence. */
  readPage: (after: bigint) => Promise<FeedPage>;
  /** Throws a Fault once the key may no longer read the feed. */
  checkCaller: () => Promise<void>;
  onError: (error: unknown) => void;
};

const HEARTBEAT_MS = 15_000;
/** A reader that takes nothing for so long has gone. */
const UNREAD_MS_MAX = 30_000;
/** How long a client waits before it opens a stream that ended again. */
const RECONNECT_MS = 2_000;

/**
 * One client's stream of a feed. It reads the next page when the client has taken the one before, so that a slow client
 * costs no memory, and a client far behind gets its first page at once.
 */
export class FeedStream {
  readonly feed: StreamedFeed;
  readonly #options: FeedStreamOptions;
  /** The last sequence that was sent, or that a filter has passed over. */
  #after: bigint;
  #heartbeatAtMs: number;
  #unreadSinceMs: number | undefined;
  #isSending = false;

  /** Sends the first page, which the caller has read. */
  constructor(options: FeedStreamOptions, first: { page: FeedPage; after: bigint; nowMs: number }) {
    this.feed = options.feed;
    this.#options = options;
    this.#after = first.after;
    this.#heartbeatAtMs = first.nowMs + HEARTBEAT_MS;
    options.response.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#writePage(first.page);
  }

  /** Sends what the client lacks, now that the account's feed has reached a sequence. */
  report(lastSequence: bigint): void {
    if (lastSequence <= this.#after || this.#isSending) return;
    this.#isSending = true;
    void this.#sendPages()
      .catch((error: unknown) => {
        // The events behind its cursor are deleted, so that its next request gets events_expired.
        if (error instanceof Fault) this.end();
        else this.#options.onError(error);
      })
      .finally(() => {
        this.#isSending = false;
      });
  }

  /** Beats, and ends the stream of a client that reads nothing or may no longer read. */
  tick(nowMs: number): void {
    const { response } = this.#options;
    const isUnread = response.writableNeedDrain || response.writableEnded;
    this.#unreadSinceMs = isUnread ? (this.#unreadSinceMs ?? nowMs) : undefined;
    if (this.#unreadSinceMs !== undefined && nowMs - this.#unreadSinceMs >= UNREAD_MS_MAX) response.destroy();
    if (response.writableEnded || nowMs < this.#heartbeatAtMs) return;
    this.#heartbeatAtMs = nowMs + HEARTBEAT_MS;
    if (this.#unreadSinceMs === undefined) response.write(":\n\n");
    void this.#options.checkCaller().catch((error: unknown) => {
      if (error instanceof Fault) this.end();
    });
  }

  /** Ends the stream; the client comes again. */
  end(): void {
    this.#options.response.end(`retry: ${RECONNECT_MS}\n\n`);
  }

  async #sendPages(): Promise<void> {
    const { response, readPage } = this.#options;
    for (let hasMore = true; hasMore;) {
      await untilDrained(response);
      if (response.writableEnded || response.destroyed) return;
      const page = await readPage(this.#after);
      if (response.writableEnded || response.destroyed) return;
      this.#writePage(page);
      hasMore = page.hasMore;
    }
  }

  #writePage(page: FeedPage): void {
    const text = formatPage(page, this.#after);
    if (text !== "") this.#options.response.write(text);
    this.#after = page.nextAfter;
  }
}

/** Resolves when the client has taken what was written, or has gone. */
async function untilDrained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Streams that stand at the same sequence share their pages, so each page is written as text once. */
const texts = new WeakMap<FeedPage, string>();

function formatPage(page: FeedPage, after: bigint): string {
  const known = texts.get(page);
  if (known !== undefined) return known;
  const events = page.events.map(
    (event) => `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  const lastId = BigInt(page.events.at(-1)?.sequence ?? after);
  // An id without data moves the client's cursor over events that its filter leaves out.
  if (page.nextAfter > lastId) events.push(`id: ${page.nextAfter}\n\n`);
  const text = events.join("");
  texts.set(page, text);
  return text;
}
