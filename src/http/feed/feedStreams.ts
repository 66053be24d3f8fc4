import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";
import { readLastSequences } from "../../event/lastSequences.ts";
import { readFeed, type FeedPage } from "../../event/listEvents.ts";
import { Fault } from "../../kernel/faults.ts";
import { onceClosed } from "../wire/onceClosed.ts";
import type { World } from "../../world.ts";
import { FeedStream, type StreamedFeed } from "./feedStream.ts";

type StreamsWorld = Pick<World, "db" | "clock" | "wake" | "log">;

/** The most open streams of an account and of this process. */
const STREAMS_MAX = { account: 10, process: 5_000 } as const;
const RETRY_AFTER_S = 10;
/** This process's sequencer wakes the reader sooner; events that another process numbers wait for at most this long. */
const ROUND_MS = 100;
const RETRY_MS = 1_000;
const PAGE_MAX = 100;
/** Pages read at once, so that clients far behind leave connections to the database for others. */
const READS_MAX = 4;

const HEADERS: OutgoingHttpHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A connection that stood idle after the end would hold up a shutdown.
  connection: "close",
  // Reverse proxies that buffer would hold events back.
  "x-accel-buffering": "no",
};

export type FeedToStream = {
  feed: StreamedFeed;
  after: bigint;
  /** Throws a Fault once the key may no longer read the feed. */
  checkCaller: () => Promise<void>;
};

/**
 * The open streams of this process. One statement a round finds the last sequence of each of their accounts, so a
 * stream costs a read only when its account has news, whichever process wrote them. It compares sequences and keeps no
 * position in the database of its own, so a failover needs no special case.
 */
export class FeedStreams {
  readonly #world: StreamsWorld;
  readonly #streams = new Set<FeedStream>();
  readonly #counts = new Map<string, number>();
  /** Pages that are being read. */
  readonly #pages = new Map<string, Promise<FeedPage>>();
  readonly #waiting: (() => void)[] = [];
  #reading = 0;
  #size = 0;
  #running: AbortController | undefined;

  constructor(world: StreamsWorld) {
    this.#world = world;
  }

  /** Answers with a stream. Throws rate_limited or events_expired before it begins. */
  async send({ feed, after, checkCaller }: FeedToStream, reply: FastifyReply): Promise<void> {
    const { raw: response } = reply;
    onceClosed(response, this.#enter(feed.accountId));
    const page = await this.#readPage(feed, after);
    if (response.destroyed) return;
    reply.hijack();
    response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...HEADERS });
    const { clock, log } = this.#world;
    const stream = new FeedStream(
      {
        feed,
        response,
        checkCaller,
        readPage: (behind) => this.#readPage(feed, behind),
        onError: (err) => log.warn({ err, accountId: feed.accountId }, "reading a feed for a stream failed, retrying"),
      },
      { page, after, nowMs: clock.monotonicMs() },
    );
    this.#streams.add(stream);
    onceClosed(response, () => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#running?.abort();
    });
    if (this.#running === undefined || this.#running.signal.aborted) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
  }

  /** Ends all streams. Their clients come again. */
  close(): void {
    this.#running?.abort();
    for (const stream of this.#streams) stream.end();
  }

  /** Takes a place of the account, and returns the function that leaves it. */
  #enter(accountId: string): () => void {
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= STREAMS_MAX.account || this.#size >= STREAMS_MAX.process)
      throw new Fault("rate_limited", { retryAfterS: RETRY_AFTER_S });
    this.#counts.set(accountId, count + 1);
    this.#size += 1;
    return () => {
      this.#size -= 1;
      const left = (this.#counts.get(accountId) ?? 1) - 1;
      if (left > 0) this.#counts.set(accountId, left);
      else this.#counts.delete(accountId);
    };
  }

  async #run(ending: AbortSignal): Promise<void> {
    const { db, clock, wake, log } = this.#world;
    while (!ending.aborted) {
      let waitMs = ROUND_MS;
      try {
        const last = await readLastSequences(db, [...new Set([...this.#streams].map(({ feed }) => feed.accountId))]);
        for (const stream of this.#streams) stream.report(last.get(stream.feed.accountId) ?? 0n);
      } catch (err) {
        log.warn({ err, streams: this.#streams.size }, "looking for events of open streams failed, retrying");
        waitMs = RETRY_MS;
      }
      const nowMs = clock.monotonicMs();
      for (const stream of this.#streams) stream.tick(nowMs);
      await wake.wait("event streams", { timeoutMs: waitMs, signal: ending });
    }
  }

  /** Streams of one account that stand at the same sequence share the read. */
  #readPage(feed: StreamedFeed, after: bigint): Promise<FeedPage> {
    const key = JSON.stringify([feed.accountId, after.toString(), feed.types, feed.intentId]);
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page = this.#readInTurn({ ...feed, after, limit: PAGE_MAX }).finally(() => this.#pages.delete(key));
    this.#pages.set(key, page);
    return page;
  }

  async #readInTurn(query: Parameters<typeof readFeed>[1]): Promise<FeedPage> {
    if (this.#reading >= READS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#reading += 1;
    try {
      return await readFeed(this.#world.db, query);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#reading -= 1;
      else next();
    }
  }
}
