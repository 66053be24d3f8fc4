import type { Timer } from "../../../kernel/clock.ts";
import type { HeadFeed, HeadListener } from "../../headFeed.ts";
import { followSocket, JsonRpcSocket } from "../../rpc/jsonRpcSocket.ts";
import { parseCount } from "./values.ts";

const TIMEOUT_MS = 10_000;
/** A cluster has a slot every 0.4 seconds, so that a silent connection is a lost one. */
const IDLE_MS = 10_000;
/** Checks in a row at which others may be ahead. */
const BEHIND_MAX = 2;

export type SlotFeedOptions = {
  wsUrl: string;
  clock: Timer;
  /** Limit for connecting and for the answer, in milliseconds; default 10,000. */
  timeoutMs?: number;
  /** Silence that ends the connection, in milliseconds; default 10,000. */
  idleMs?: number;
};

/**
 * New slots that a provider pushes over a websocket (slotSubscribe). They are not confirmed yet and name no block, so
 * they only say when to read. Websockets answer no other requests: the cluster is not verified. Connects only when
 * `follow` is called.
 */
export function openSlotFeed(options: SlotFeedOptions): HeadFeed {
  const { host } = new URL(options.wsUrl);
  return { name: host, follow: async (listener, signal) => follow(options, listener, signal) };
}

async function follow(options: SlotFeedOptions, listener: HeadListener, signal: AbortSignal): Promise<string> {
  const { wsUrl, clock, timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS } = options;
  let highest = -1n;
  const socket = new JsonRpcSocket({
    url: wsUrl,
    clock,
    timeoutMs,
    onPush: (method, { result }) => {
      if (method !== "slotNotification") return;
      const slot = parseSlotNotice(result);
      if (slot === undefined) return socket.end("it sent a malformed slot");
      if (slot <= highest) return;
      highest = slot;
      listener.onHeadNumber?.(slot);
    },
  });
  const open = async () => {
    await socket.open();
    await socket.request("slotSubscribe", []);
    listener.onOpen();
  };
  /** Resolves with a reason when the connection is useless. */
  const monitor = async () => {
    let behind = 0;
    // Ends with the connection: each round takes at most one idle interval.
    while (!socket.signal.aborted && behind < BEHIND_MAX) {
      const before = highest;
      await clock.sleep(idleMs, socket.signal);
      if (highest === before) return "it stopped announcing slots";
      behind = (listener.highestKnown() ?? -1n) > highest ? behind + 1 : 0;
    }
    return "it misses slots";
  };
  return followSocket(socket, { open, monitor }, signal);
}

function parseSlotNotice(result: unknown): bigint | undefined {
  const slot: unknown = typeof result === "object" && result !== null ? Reflect.get(result, "slot") : undefined;
  try {
    return BigInt(parseCount(slot, "a slot"));
  } catch {
    return undefined;
  }
}
