import type { FastifyReply } from "fastify";
import { toClientNetwork } from "../../rate/clientNetwork.ts";
import type { CheckoutContext } from "../checkoutContext.ts";
import type { CheckoutState, StreamedState } from "@tributary/checkout/checkoutState";
import { onceClosed } from "../../wire/onceClosed.ts";
import type { OpenStreams } from "./openStreams.ts";
import { requireSession, type CheckoutRequest } from "../session/requireSession.ts";

/** How long a browser waits before it opens a stream that ended again. */
const RECONNECT_MS = 2_000;
/**
 * The same of a stream that made room for another one, so that pages of one payment do not take it from each other all
 * the time.
 */
const RECONNECT_DISPLACED_MS = 30_000;
const DISPLACED_MS_MAX = 5_000;
/** A stream ends after an hour of beats, so that a session which is over does not stay open. */
const BEATS_MAX = 360;
/** A reader that leaves more than this unread has gone. */
const UNREAD_BYTES_MAX = 262_144;

/**
 * Streams the state with each change, as server-sent events. Throws unauthorized, or rate_limited before it
 * begins.
 */
export async function sendEvents(
  context: CheckoutContext,
  streams: OpenStreams,
  { request, reply }: { request: CheckoutRequest; reply: FastifyReply },
): Promise<void> {
  const { world, feed, limits } = context;
  const session = await requireSession(world, request);
  await limits.acquire("events", request, session.key);
  const { raw } = reply;
  const forgetStream = streams.open({
    intentId: session.intentId,
    network: toClientNetwork(request.ip),
    session: session.key,
    displace: () => {
      raw.end(`retry: ${RECONNECT_DISPLACED_MS}\n\n`);
      // A reader that takes nothing keeps its connection open.
      raw.setTimeout(DISPLACED_MS_MAX, () => raw.destroy());
    },
  });
  onceClosed(raw, forgetStream);
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
  const lastId = readLastEventId(request);
  let hasTerms = lastId !== undefined;
  const unsubscribe = feed.subscribe(session.intentId, lastId, {
    onState: (next) => {
      write(formatEvent(next, hasTerms));
      hasTerms = true;
    },
    onBeat: () => {
      beats += 1;
      if (beats < BEATS_MAX) write(":\n\n");
      else raw.end();
    },
    onClose: () => raw.end(),
  });
  onceClosed(raw, unsubscribe);
}

function readLastEventId({ headers }: CheckoutRequest): string | undefined {
  const id = headers["last-event-id"];
  return typeof id === "string" ? id : undefined;
}

/** The terms never change, and with the routes they are most of a state: a page that has one gets them no more. */
function formatEvent({ terms, ...changing }: CheckoutState, hasTerms: boolean): string {
  const state: StreamedState = hasTerms ? changing : { ...changing, terms };
  return `id: ${state.version}\nevent: state\ndata: ${JSON.stringify(state)}\n\n`;
}
