import { API_VERSION, type Event, type EventList, type ListEventsQuery } from "./api.generated.ts";
import type { ClientOptions } from "./client.ts";
import { toTributaryError, TributaryError } from "./errors.ts";
import { backoffMs } from "./sendWithRetries.ts";
import { readServerEvents } from "./serverEvents.ts";

// The feed of events as an iterator. Store `event.sequence` with what you did, and pass it as `after` when you start.

export type ReadEventsQuery = Omit<ListEventsQuery, "limit">;

/** Yields the events behind `after` that exist now, in order: `readEvents(tributary.listEvents, { after })`. */
export async function* readEvents(
  list: (query: ListEventsQuery) => Promise<EventList>,
  query: ReadEventsQuery = {},
): AsyncGenerator<Event, void, undefined> {
  let after = query.after ?? 0;
  for (let hasMore = true; hasMore;) {
    const page = await list({ ...query, after, limit: PAGE_MAX });
    yield* page.data;
    after = Number(page.next_cursor);
    hasMore = page.has_more;
  }
}

export type FollowOptions = {
  /** The sequence of the last event that you have; 0 by default, which begins with the first. */
  readonly after?: number | undefined;
  /** Types, separated by commas; `deposit.*` means all below `deposit`. */
  readonly type?: string | undefined;
  readonly intentId?: string | undefined;
  /** Ends the iterator. */
  readonly signal?: AbortSignal | undefined;
};

export type FollowClient = Pick<ClientOptions, "baseUrl" | "apiKey" | "version" | "fetch">;

const PAGE_MAX = 100;
/** The service writes every 15 seconds, so a connection that is silent for longer is broken. */
const SILENCE_MS_MAX = 35_000;
const RECONNECT = { firstMs: 1_000, maxMs: 30_000 };

/**
 * Yields the events behind `after` in order, and each new one as it happens, until `signal` aborts. It connects again,
 * behind the last event, as often as the connection breaks. Throws a TributaryError that no retry mends, such as
 * events_expired.
 */
export async function* followEvents(
  client: FollowClient,
  options: FollowOptions = {},
): AsyncGenerator<Event, void, undefined> {
  const { signal } = options;
  let after = String(options.after ?? 0);
  for (let failures = 0; signal?.aborted !== true; failures += 1) {
    const connection = new AbortController();
    const end = () => connection.abort();
    signal?.addEventListener("abort", end, { once: true });
    try {
      const body = await openStream(client, { ...options, after }, connection.signal);
      for await (const { id, data } of readServerEvents(limitSilence(body, end))) {
        failures = 0;
        yield* data === undefined ? [] : [JSON.parse(data) as Event];
        // After the yield, so that an event which the caller did not finish comes again.
        after = id ?? after;
      }
    } catch (error) {
      // Anything else is a broken connection.
      const isFinal = error instanceof TributaryError ? !error.isRetryable : error instanceof SyntaxError;
      if (isFinal) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
      end();
    }
    await sleep(backoffMs(failures, RECONNECT), signal);
  }
}

async function openStream(
  { baseUrl, apiKey, version = API_VERSION, fetch: send = fetch }: FollowClient,
  { type, intentId, after }: Omit<FollowOptions, "after"> & { after: string },
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const query = Object.entries({ after, type, intentId }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const url = `${baseUrl.replace(/\/+$/, "")}/api/v1/events/stream?${new URLSearchParams(query).toString()}`;
  const headers = { accept: "text/event-stream", authorization: `Bearer ${apiKey}`, "service-version": version };
  const response = await send(url, { headers, redirect: "error", signal });
  if (response.ok && response.body !== null) return response.body;
  const text = await response.text();
  throw toTributaryError(response, parseJson(text));
}

/** Passes a stream on, and calls `end` when nothing comes for too long. */
async function* limitSilence(body: ReadableStream<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  let timer = setTimeout(end, SILENCE_MS_MAX);
  try {
    for await (const bytes of iterate(body)) {
      clearTimeout(timer);
      yield bytes;
      timer = setTimeout(end, SILENCE_MS_MAX);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Not every runtime iterates over streams. */
async function* iterate(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Resolves after the time, or when the signal aborts. */
function sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal?.addEventListener("abort", done, { once: true });
  });
}
