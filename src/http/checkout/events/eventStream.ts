import type { FastifyReply } from "fastify";
import { Fault } from "../../../kernel/faults.ts";
import { toClientNetwork } from "../../rate/clientNetwork.ts";
import type { CheckoutContext } from "../checkoutContext.ts";
import type { CheckoutState } from "@tributary/checkout/checkoutState";
import { requireSession, type CheckoutRequest } from "../session/requireSession.ts";

const STREAMS_MAX = { process: 5_000, network: 1_500, session: 6 } as const;
const RETRY_AFTER_S = 10;
/** How long a browser waits before it opens a stream that ended again. */
const RECONNECT_MS = 2_000;
/** A stream ends after an hour of beats, so that a session which is over does not stay open. */
const BEATS_MAX = 360;
/** A reader that leaves more than this unread has gone. */
const UNREAD_BYTES_MAX = 262_144;

/** Open streams of this process, by what limits them. */
export class StreamCounts {
  readonly #counts = new Map<string, number>();

  /** Counts a stream, and returns the function that ends it. Throws rate_limited. */
  open(keys: readonly (readonly [key: string, max: number])[]): () => void {
    if (keys.some(([key, max]) => (this.#counts.get(key) ?? 0) >= max))
      throw new Fault("rate_limited", { retryAfterS: RETRY_AFTER_S });
    for (const [key] of keys) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      for (const [key] of keys) {
        const left = (this.#counts.get(key) ?? 1) - 1;
        if (left === 0) this.#counts.delete(key);
        else this.#counts.set(key, left);
      }
    };
  }
}

/** Streams the whole state with each change, as server-sent events. Throws unauthorized, or rate_limited before it begins. */
export async function sendEvents(
  context: CheckoutContext,
  counts: StreamCounts,
  { request, reply }: { request: CheckoutRequest; reply: FastifyReply },
): Promise<void> {
  const { world, feed, limits } = context;
  const session = await requireSession(world, request);
  await limits.acquire("events", request, session.key);
  const closeStream = counts.open([
    ["process", STREAMS_MAX.process],
    [`network ${toClientNetwork(request.ip)}`, STREAMS_MAX.network],
    [`session ${session.key}`, STREAMS_MAX.session],
  ]);
  const { raw } = reply;
  raw.once("close", closeStream);
  reply.hijack();
  raw.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    // Reverse proxies that buffer would hold events back.
    "x-accel-buffering": "no",
    "request-id": request.id,
  });
  raw.write(`retry: ${RECONNECT_MS}\n\n`);
  let beats = 0;
  const write = (text: string) => {
    raw.write(text);
    if (raw.writableLength > UNREAD_BYTES_MAX) raw.destroy();
  };
  const unsubscribe = feed.subscribe(session.intentId, readLastEventId(request), {
    onState: (next) => write(formatEvent(next)),
    onBeat: () => {
      beats += 1;
      if (beats < BEATS_MAX) write(":\n\n");
      else raw.end();
    },
    onClose: () => raw.end(),
  });
  raw.once("close", unsubscribe);
}

function readLastEventId({ headers }: CheckoutRequest): string | undefined {
  const id = headers["last-event-id"];
  return typeof id === "string" ? id : undefined;
}

function formatEvent(state: CheckoutState): string {
  return `id: ${state.version}\nevent: state\ndata: ${JSON.stringify(state)}\n\n`;
}
