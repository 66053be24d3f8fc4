// Anybody may burn for an inbox, in one transaction with long messages of their own. Those of a full block have about
// ten million bytes in an answer, and none may keep the inbox's proof from being found. Several such answers at once
// would use up the time of each, and the memory.

/** An answer up to this size is read at once. */
const SMALL_BYTES_MAX = 1_048_576;
const BYTES_MAX = 32_000_000;
/** Until the answer has begun and a small one has ended. */
const SMALL_MS = 10_000;
/** For the rest of a large one, from the moment of its turn. */
const LARGE_MS = 30_000;

type RawAnswer = { status: number; body: AsyncIterable<unknown> };
type TextAnswer = { status: number; text: string; release: (() => void) | undefined };

export type LargeAnswers = {
  /**
   * Reads the answer of one request as UTF-8. A large one waits until every earlier large one is released, and its
   * connection waits with it. Throws SyntaxError for one that no service gives.
   */
  read(request: (signal: AbortSignal) => Promise<RawAnswer>): Promise<TextAnswer>;
};

export function openLargeAnswers({ smallMs = SMALL_MS, largeMs = LARGE_MS } = {}): LargeAnswers {
  let last = Promise.resolve();
  /** Resolves with the function that ends the turn, once every earlier turn has ended. */
  const takeTurn = async (): Promise<() => void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = promise;
    await before;
    return resolve;
  };
  return {
    read: async (request) => {
      const limit = startLimit(smallMs);
      let release: (() => void) | undefined;
      try {
        const { status, body } = await request(limit.signal);
        const chunks: Buffer[] = [];
        let length = 0;
        for await (const chunk of body as AsyncIterable<Buffer>) {
          chunks.push(chunk);
          length += chunk.length;
          if (length > BYTES_MAX) throw new SyntaxError("the response is too long");
          if (length <= SMALL_BYTES_MAX || release !== undefined) continue;
          limit.stop();
          release = await takeTurn();
          limit.start(largeMs);
        }
        return { status, text: Buffer.concat(chunks).toString("utf8"), release };
      } catch (error) {
        release?.();
        throw error;
      } finally {
        limit.stop();
      }
    },
  };
}

/** A signal that aborts when the time that runs is over. */
function startLimit(firstMs: number): { signal: AbortSignal; start(ms: number): void; stop(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const start = (ms: number) => {
    stop();
    timer = setTimeout(() => controller.abort(new DOMException("The time is over", "TimeoutError")), ms);
  };
  start(firstMs);
  return { signal: controller.signal, start, stop };
}
