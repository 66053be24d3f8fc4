import type { Caip2 } from "../../../kernel/caip.ts";
import { referenceOf } from "../../../kernel/caip.ts";
import type { Timer } from "../../../kernel/clock.ts";
import { ProviderFailed, type BlockRef } from "../../reader.ts";
import type { HeadFeed, HeadListener } from "../../headFeed.ts";
import { ChainMismatch } from "../../providers.ts";
import { parseQuantity } from "./rpcValues.ts";
import { openTextSocket, type TextSocket } from "./textSocket.ts";
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
  return { name: host, follow: (listener, signal) => follow(options, listener, signal) };
}

async function follow(options: NewHeadsFeedOptions, listener: HeadListener, signal: AbortSignal): Promise<string> {
  const connection = new NewHeadsConnection(options, listener);
  const stop = () => connection.end("the service stops");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await connection.open();
    void monitorConnection(connection, listener, options).then((reason) => connection.end(reason));
    return await connection.ended;
  } catch (error) {
    // A failure after our own stop is no error.
    if (signal.aborted) return await connection.ended;
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    connection.end("it is no longer needed");
  }
}

/** Resolves with a reason when the connection is useless: it does not answer, or it misses heads. */
async function monitorConnection(
  connection: NewHeadsConnection,
  { highestKnown }: HeadListener,
  { clock, idleMs = IDLE_MS }: NewHeadsFeedOptions,
): Promise<string> {
  const { signal } = connection;
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

type JsonRpcMessage = {
  id?: unknown;
  result?: unknown;
  error?: unknown;
  method?: unknown;
  params?: { result?: unknown };
};

class NewHeadsConnection {
  readonly #options: NewHeadsFeedOptions;
  readonly #listener: HeadListener;
  readonly #host: string;
  readonly #pendingRequests = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<string>();
  readonly #abortController = new AbortController();
  #socket: TextSocket | undefined;
  #lastRequestId = 0;
  #isVerified = false;
  /** The highest head that it pushed, or that it knew at the start. */
  headNumber = -1n;

  constructor(options: NewHeadsFeedOptions, listener: HeadListener) {
    this.#options = options;
    this.#listener = listener;
    this.#host = new URL(options.wsUrl).host;
  }

  /** Resolves with the reason of its end. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Aborts at its end. */
  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  async open(): Promise<void> {
    const { wsUrl, caip2, timeoutMs = TIMEOUT_MS } = this.#options;
    const socket = await openTextSocket(wsUrl, {
      timeoutMs,
      onText: (text) => this.#handleMessage(text),
      signal: this.signal,
    });
    this.#socket = socket;
    void socket.ended.then((reason) => this.end(reason));
    const chainId = parseQuantity(await this.#request("eth_chainId", []), "a chain id").toString();
    if (chainId !== referenceOf(caip2)) {
      throw new ChainMismatch(`${this.#host} is configured as a websocket of ${caip2} but serves eip155:${chainId}.`);
    }
    this.#isVerified = true;
    await this.#request("eth_subscribe", ["newHeads"]);
    this.#raiseHeadNumber(await this.fetchBlockNumber());
    this.#listener.onOpen();
  }

  async fetchBlockNumber(): Promise<bigint> {
    return parseQuantity(await this.#request("eth_blockNumber", []), "a block number");
  }

  /** Ends the connection and rejects pending requests with `reason`. */
  end(reason: string): void {
    this.#abortController.abort();
    this.#socket?.destroy();
    for (const waiting of this.#pendingRequests.values())
      waiting.reject(new ProviderFailed("unreachable", `${this.#host}: ${reason}`));
    this.#pendingRequests.clear();
    this.#ended.resolve(reason);
  }

  async #request(method: string, params: readonly unknown[]): Promise<unknown> {
    const { clock, timeoutMs = TIMEOUT_MS } = this.#options;
    if (this.signal.aborted) throw new ProviderFailed("unreachable", `${this.#host} is not connected`);
    const id = (this.#lastRequestId += 1);
    const answer = Promise.withResolvers<unknown>();
    this.#pendingRequests.set(id, answer);
    const timeout = new AbortController();
    void clock.sleep(timeoutMs, timeout.signal).then(() => {
      if (this.#pendingRequests.delete(id)) answer.reject(new ProviderFailed("timeout", `${this.#host} took too long`));
    });
    try {
      this.#socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return await answer.promise;
    } finally {
      timeout.abort();
    }
  }

  #handleMessage(text: string): void {
    const message = parseMessage(text);
    if (message === undefined) return this.end("it sent no JSON-RPC");
    if (message.method === "eth_subscription") return this.#handleNewHead(message.params);
    const waiting = this.#pendingRequests.get(Number(message.id));
    if (waiting === undefined) return;
    this.#pendingRequests.delete(Number(message.id));
    if (message.result === undefined || message.result === null) {
      waiting.reject(new ProviderFailed("bad_answer", `${this.#host} answered ${JSON.stringify(message.error)}`));
    } else waiting.resolve(message.result);
  }

  #handleNewHead(params: JsonRpcMessage["params"]): void {
    // Pushes before the chain id is verified may come from any chain.
    if (!this.#isVerified) return;
    let head: BlockRef;
    try {
      head = parseBlock(params?.result);
    } catch {
      return this.end("it sent a malformed head");
    }
    this.#raiseHeadNumber(head.number);
    this.#listener.onHead(head);
  }

  #raiseHeadNumber(number: bigint): void {
    if (number > this.headNumber) this.headNumber = number;
  }
}

function parseMessage(text: string): JsonRpcMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}
