import type { Timer } from "../../kernel/clock.ts";
import { ProviderFailed } from "../reader.ts";
import { openTextSocket, type TextSocket } from "./textSocket.ts";

type JsonRpcMessage = { id?: unknown; result?: unknown; error?: unknown; method?: unknown; params?: unknown };

export type JsonRpcSocketOptions = {
  url: string;
  clock: Timer;
  /** Limit for opening and for each answer, in milliseconds. */
  timeoutMs: number;
  /** Receives the `params` of each message that answers no request; must not throw. */
  onPush: (method: string, params: Readonly<Record<string, unknown>>) => void;
};

/** JSON-RPC over one websocket: requests with answers, and pushes. Nothing is repeated. */
export class JsonRpcSocket {
  /** Without path and query, which may contain a key. */
  readonly host: string;
  readonly #options: JsonRpcSocketOptions;
  readonly #pendingRequests = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<string>();
  readonly #abortController = new AbortController();
  #socket: TextSocket | undefined;
  #lastRequestId = 0;

  constructor(options: JsonRpcSocketOptions) {
    this.#options = options;
    this.host = new URL(options.url).host;
  }

  /** Resolves with the reason of its end. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Aborts at its end. */
  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /** Throws ProviderFailed when it does not open in time. */
  async open(): Promise<void> {
    const { url, timeoutMs } = this.#options;
    const onText = (text: string) => this.#handleMessage(text);
    const socket = await openTextSocket(url, { timeoutMs, onText, signal: this.signal });
    this.#socket = socket;
    void socket.ended.then((reason) => this.end(reason));
  }

  /** Ends the connection and rejects pending requests with `reason`. */
  end(reason: string): void {
    this.#abortController.abort();
    this.#socket?.destroy();
    for (const waiting of this.#pendingRequests.values())
      waiting.reject(new ProviderFailed("unreachable", `${this.host}: ${reason}`));
    this.#pendingRequests.clear();
    this.#ended.resolve(reason);
  }

  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    const { clock, timeoutMs } = this.#options;
    if (this.signal.aborted) throw new ProviderFailed("unreachable", `${this.host} is not connected`);
    const id = (this.#lastRequestId += 1);
    const answer = Promise.withResolvers<unknown>();
    this.#pendingRequests.set(id, answer);
    const timeout = new AbortController();
    void clock.sleep(timeoutMs, timeout.signal).then(() => {
      if (this.#pendingRequests.delete(id)) answer.reject(new ProviderFailed("timeout", `${this.host} took too long`));
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
    const { id, method, params, result, error } = message;
    if (typeof method === "string") {
      const fields = typeof params === "object" && params !== null ? (params as Record<string, unknown>) : {};
      return this.#options.onPush(method, fields);
    }
    const waiting = this.#pendingRequests.get(Number(id));
    if (waiting === undefined) return;
    this.#pendingRequests.delete(Number(id));
    if (result === undefined || result === null) {
      waiting.reject(new ProviderFailed("bad_answer", `${this.host} answered ${JSON.stringify(error)}`));
    } else waiting.resolve(result);
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

/** Follows `socket` from its opening by `open` to its end, or until `signal` aborts. Resolves with the reason. */
export async function followSocket(
  socket: JsonRpcSocket,
  { open, monitor }: { open: () => Promise<void>; monitor: () => Promise<string> },
  signal: AbortSignal,
): Promise<string> {
  const stop = () => socket.end("the service stops");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await open();
    void monitor().then((reason) => socket.end(reason));
    return await socket.ended;
  } catch (error) {
    // A failure after our own stop is no error.
    if (signal.aborted) return await socket.ended;
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    socket.end("it is no longer needed");
  }
}
