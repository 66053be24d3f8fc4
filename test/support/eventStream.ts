import assert from "node:assert/strict";
import type { Json } from "./api.ts";

// A client of server-sent events, by the rules of the HTML standard.

export type StreamedEvent = { id: string | undefined; event: string | undefined; data: Json };

export type OpenEventStream = {
  headers: Headers;
  /** The next event, or the next id without one. */
  next(): Promise<StreamedEvent>;
  /** Waits for the next bytes. */
  chunk(): Promise<void>;
  /** Events that have arrived and were not taken. */
  pending(): readonly StreamedEvent[];
  comments(): number;
  /** Resolves when the service ends the stream. */
  ended: Promise<void>;
  close(): void;
};

export async function openEventStream(url: string, headers: Record<string, string>): Promise<OpenEventStream> {
  const ending = new AbortController();
  const response = await fetch(url, { headers, signal: ending.signal });
  assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
  const events: StreamedEvent[] = [];
  let comments = 0;
  let news = Promise.withResolvers<void>();
  const take = (block: string) => {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (name === "") comments += 1;
      else fields.set(name, value);
    }
    if (!fields.has("id")) return;
    const data = fields.get("data");
    const parsed = data === undefined ? undefined : (JSON.parse(data) as Json);
    events.push({ id: fields.get("id"), event: fields.get("event"), data: parsed });
  };
  const read = async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) take(block);
      news.resolve();
      news = Promise.withResolvers();
    }
  };
  const ended = read()
    .catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
    })
    .finally(() => news.resolve());
  return {
    headers: response.headers,
    async next() {
      while (events.length === 0) await news.promise;
      return events.shift() ?? assert.fail();
    },
    chunk: () => news.promise,
    pending: () => events,
    comments: () => comments,
    ended,
    close: () => ending.abort(),
  };
}
