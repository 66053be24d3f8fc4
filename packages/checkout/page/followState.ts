import type { CheckoutState, RefusalReason, StreamedState } from "../src/checkoutState.ts";
import { RequestError, type CheckoutApi } from "./session.ts";

const POLL_MS = 3_000;
/** The service sends a comment every 10 seconds; without one the connection is dead. */
const SILENCE_MS_MAX = 25_000;
const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** How long the page polls before it tries the stream again. */
const STREAM_PAUSE_MS = 60_000;

export type FollowHandlers = {
  readonly onState: (state: CheckoutState) => void;
  /** The session is over. Following ends. */
  readonly onRefused: (refusal: RefusalReason) => void;
  /** The service cannot be reached; the next try comes after this many milliseconds. */
  readonly onLost: (retryMs: number) => void;
};

/**
 * Follows the payment by server-sent events, and by polling where no stream gets through. Runs while the page is open.
 */
export class StateFollower {
  readonly #api: CheckoutApi;
  readonly #handlers: FollowHandlers;
  #last: CheckoutState | null = null;
  #failures = 0;
  #streamAfterMs = 0;
  #wake: () => void = () => undefined;
  #abort: AbortController | undefined;

  constructor(api: CheckoutApi, handlers: FollowHandlers) {
    this.#api = api;
    this.#handlers = handlers;
  }

  /** Reads the state at once: the payer pressed a button, or the device is online again. */
  refresh(): void {
    this.#wake();
    this.#abort?.abort();
  }

  async run(known: CheckoutState | null): Promise<void> {
    this.#last = known;
    addEventListener("online", () => this.refresh());
    addEventListener("offline", () => this.refresh());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#failures > 0) this.refresh();
    });
    for (;;) {
      try {
        if (performance.now() >= this.#streamAfterMs) await this.#readStream();
        this.#receive(await this.#api.readState());
        await this.#sleep(POLL_MS);
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal !== undefined) return this.#handlers.onRefused(refusal);
        const retryMs = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? POLL_MS;
        this.#failures += 1;
        this.#handlers.onLost(retryMs);
        await this.#sleep(retryMs);
      }
    }
  }

  #receive(state: CheckoutState): void {
    this.#failures = 0;
    this.#last = state;
    this.#handlers.onState(state);
  }

  /** Returns when the stream ends or goes silent. Where the service refuses the stream, the page polls for a while. */
  async #readStream(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    let timer = setTimeout(() => abort.abort(), SILENCE_MS_MAX);
    try {
      const stream = await this.#api.openEvents(this.#last?.version ?? null, abort.signal);
      const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
      let buffer = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENCE_MS_MAX);
        // The stream is back, and sends nothing while the state is the one that the page has.
        if (this.#failures > 0) this.#receive(await this.#api.readState());
        const messages = `${buffer}${value}`.split(/\r?\n\r?\n/);
        buffer = messages.pop() ?? "";
        for (const message of messages) this.#readMessage(message);
      }
    } catch (error) {
      if (!(error instanceof RequestError)) return;
      if (refusalOf(error) !== undefined) throw error;
      if (error.status !== 0) this.#streamAfterMs = performance.now() + STREAM_PAUSE_MS;
    } finally {
      clearTimeout(timer);
      abort.abort();
      this.#abort = undefined;
    }
  }

  #readMessage(message: string): void {
    const lines = message.split(/\r?\n/);
    const field = (name: string) =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart());
    if (field("event")[0] !== "state") return;
    const next = JSON.parse(field("data").join("\n")) as StreamedState;
    // The terms of a payment never change. Without any the page reads the whole state.
    const terms = next.terms ?? this.#last?.terms;
    if (terms === undefined) throw new Error("a state without terms");
    this.#receive({ ...next, terms });
  }

  async #sleep(durationMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, durationMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Only a missing session or payment ends following; everything else is tried again. */
function refusalOf(error: unknown): RefusalReason | undefined {
  if (!(error instanceof RequestError)) return undefined;
  return error.status === 401 || error.status === 404 ? error.refusal : undefined;
}
