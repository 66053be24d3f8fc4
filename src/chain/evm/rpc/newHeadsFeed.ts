import type { Caip2 } from "../../../kernel/caip.ts";
import { referenceOf } from "../../../kernel/caip.ts";
import type { Timer } from "../../../kernel/clock.ts";
import type { BlockRef } from "../../reader.ts";
import type { HeadFeed, HeadListener } from "../../headFeed.ts";
import { ChainMismatch } from "../../providers.ts";
import { followSocket, JsonRpcSocket } from "../../rpc/jsonRpcSocket.ts";
import { parseQuantity } from "./rpcValues.ts";
import { parseBlock } from "./parseBlock.ts";

const TIMEOUT_MS = 10_000;
/** After this long without a new head, the connection is probed. */
const IDLE_MS = 10_000;
/** Probes in a row that may find a missed head: one can be a block that arrived between the two answers. */
const MISSED_HEADS_MAX = 2;

export type NewHeadsFeedOptions = {
  caip2: Caip2;
  wsUrl: string;
  clock: Timer;
  /** Limit for connecting and for each answer, in milliseconds; default 10,000. */
  timeoutMs?: number;
  /** Silence before a probe, in milliseconds; default 10,000. */
  idleMs?: number;
};

/** New heads that an EVM provider pushes over a websocket (eth_subscribe). Connects only when `follow` is called. */
export function openNewHeadsFeed(options: NewHeadsFeedOptions): HeadFeed {
  const { host } = new URL(options.wsUrl);
  return {
    name: host,
    follow: async (listener, signal) => {
      const connection = new NewHeadsConnection(options, listener);
      const monitor = () => monitorConnection(connection, listener, options);
      return followSocket(connection.socket, { open: () => connection.open(), monitor }, signal);
    },
  };
}

/** Resolves with a reason when the connection is useless: it does not answer, or it misses heads. */
async function monitorConnection(
  connection: NewHeadsConnection,
  { highestKnown }: HeadListener,
  { clock, idleMs = IDLE_MS }: NewHeadsFeedOptions,
): Promise<string> {
  const { signal } = connection.socket;
  let missedHeads = 0;
  // Ends with the connection: each round takes at most one idle interval.
  while (!signal.aborted && missedHeads < MISSED_HEADS_MAX) {
    const before = connection.headNumber;
    await clock.sleep(idleMs, signal);
    // Repeated old heads count as none.
    if (connection.headNumber > before) {
      missedHeads = 0;
      continue;
    }
    const number = await connection.fetchBlockNumber().catch(() => undefined);
    if (number === undefined) return "it stopped answering";
    const isHeadMissed = number > connection.headNumber || (highestKnown() ?? -1n) > connection.headNumber;
    missedHeads = isHeadMissed ? missedHeads + 1 : 0;
  }
  return "it misses heads";
}

class NewHeadsConnection {
  readonly socket: JsonRpcSocket;
  readonly #caip2: Caip2;
  readonly #listener: HeadListener;
  #isVerified = false;
  /** The highest head that it pushed, or that it knew at the start. */
  headNumber = -1n;

  constructor({ wsUrl, clock, caip2, timeoutMs = TIMEOUT_MS }: NewHeadsFeedOptions, listener: HeadListener) {
    this.#caip2 = caip2;
    this.#listener = listener;
    this.socket = new JsonRpcSocket({
      url: wsUrl,
      clock,
      timeoutMs,
      onPush: (method, params) => {
        if (method === "eth_subscription") this.#handleNewHead(params["result"]);
      },
    });
  }

  async open(): Promise<void> {
    await this.socket.open();
    const chainId = parseQuantity(await this.socket.request("eth_chainId", []), "a chain id").toString();
    if (chainId !== referenceOf(this.#caip2)) {
      throw new ChainMismatch(
        `${this.socket.host} is configured as a websocket of ${this.#caip2} but serves eip155:${chainId}.`,
      );
    }
    this.#isVerified = true;
    await this.socket.request("eth_subscribe", ["newHeads"]);
    this.#raiseHeadNumber(await this.fetchBlockNumber());
    this.#listener.onOpen();
  }

  async fetchBlockNumber(): Promise<bigint> {
    return parseQuantity(await this.socket.request("eth_blockNumber", []), "a block number");
  }

  #handleNewHead(result: unknown): void {
    // Pushes before the chain id is verified may come from any chain.
    if (!this.#isVerified) return;
    let head: BlockRef;
    try {
      head = parseBlock(result);
    } catch {
      return this.socket.end("it sent a malformed head");
    }
    this.#raiseHeadNumber(head.number);
    this.#listener.onHead(head);
  }

  #raiseHeadNumber(number: bigint): void {
    if (number > this.headNumber) this.headNumber = number;
  }
}
