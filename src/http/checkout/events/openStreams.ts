import { Fault } from "../../../kernel/faults.ts";

/** The most open streams at once. Many payers may share a network. */
const STREAMS_MAX = { process: 5_000, network: 1_500, intent: 20, session: 5 } as const;
const RETRY_AFTER_S = 10;

export type OpenStream = {
  readonly intentId: string;
  readonly network: string;
  readonly session: string;
  /** Ends the stream, to make room for a newer one of the same intent. */
  displace(): void;
};

/**
 * The open streams of this process. Whoever may open an intent's streams may take room from that intent only: one more
 * than its own limit, or than the process's, ends its oldest.
 */
export class OpenStreams {
  /** In the order of their opening. */
  readonly #byIntent = new Map<string, Set<OpenStream>>();
  readonly #counts = new Map<string, number>();
  readonly #max: Readonly<Record<keyof typeof STREAMS_MAX, number>>;
  #size = 0;

  constructor(max: Partial<Record<keyof typeof STREAMS_MAX, number>> = {}) {
    this.#max = { ...STREAMS_MAX, ...max };
  }

  /** Adds a stream, and returns the function that removes it. Throws rate_limited. */
  open(stream: OpenStream): () => void {
    const { intentId, network, session } = stream;
    const counted = [`network ${network}`, `session ${session}`] as const;
    const isOver = this.#countOf(counted[0]) >= this.#max.network || this.#countOf(counted[1]) >= this.#max.session;
    if (isOver) throw new Fault("rate_limited", { retryAfterS: RETRY_AFTER_S });
    const ofIntent = this.#byIntent.get(intentId) ?? new Set();
    if (ofIntent.size >= this.#max.intent || this.#size >= this.#max.process) this.#displaceOldest(ofIntent);
    this.#byIntent.set(intentId, ofIntent.add(stream));
    this.#size += 1;
    for (const key of counted) this.#counts.set(key, this.#countOf(key) + 1);
    return () => {
      this.#remove(stream);
      for (const key of counted) {
        const left = this.#countOf(key) - 1;
        if (left > 0) this.#counts.set(key, left);
        else this.#counts.delete(key);
      }
    };
  }

  #displaceOldest(ofIntent: ReadonlySet<OpenStream>): void {
    const [oldest] = ofIntent;
    if (oldest === undefined) throw new Fault("rate_limited", { retryAfterS: RETRY_AFTER_S });
    // Its connection may take a while to close, and its room is needed now.
    this.#remove(oldest);
    oldest.displace();
  }

  /** A displaced stream is removed again when its connection closes. */
  #remove(stream: OpenStream): void {
    const ofIntent = this.#byIntent.get(stream.intentId);
    if (ofIntent?.delete(stream) !== true) return;
    this.#size -= 1;
    if (ofIntent.size === 0) this.#byIntent.delete(stream.intentId);
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}
