import { errorOfAnswer, TributaryError } from "./errors.ts";

// One call over HTTP, as often as it may be tried.

export type Sending = {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** It does the same thing when it is sent twice. */
  readonly isRepeatable: boolean;
  /** How often it is sent again at most. */
  readonly retriesMax: number;
  /** How long one try may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly fetch: typeof fetch;
};

/** The first wait when the service did not say how long; each further one is twice as long. */
const WAIT_MS_MIN = 500;
const WAIT_MS_MAX = 60_000;

/** The JSON that a call was answered with. Throws a TributaryError, or the signal's reason when the caller has given up. */
export async function send(sending: Sending): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await sendOnce(sending);
    } catch (error) {
      if (!(error instanceof TributaryError) || !isWorthAnother(error, sending) || tries > sending.retriesMax)
        throw error;
      await wait(waitMsAfter(error, tries), sending.signal);
    }
  }
}

async function sendOnce(sending: Sending): Promise<unknown> {
  const { url, method, headers, body, signal } = sending;
  const timeout = AbortSignal.timeout(sending.timeoutMs);
  const given = { method, headers, redirect: "error", ...(body === undefined ? {} : { body }) } as const;
  let answer: Response;
  let text: string;
  try {
    answer = await sending.fetch(url, {
      ...given,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    text = await answer.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const reason = timeout.aborted ? `No answer within ${sending.timeoutMs} ms` : "No answer";
    throw new TributaryError({
      code: "no_answer",
      message: `${reason} from ${url}.`,
      status: 0,
      isRetryable: true,
      cause,
    });
  }
  const parsed = parse(text);
  if (!answer.ok) throw errorOfAnswer(answer, parsed);
  if (parsed !== undefined) return parsed;
  const requestId = answer.headers.get("request-id") ?? undefined;
  const message = `${url} answered with something that is no JSON.`;
  throw new TributaryError({
    code: "unreadable_answer",
    message,
    status: answer.status,
    requestId,
    isRetryable: false,
  });
}

/** A call that was counted off the limit, or that waits for its own first try, has done nothing: it may be sent again in any case. */
function isWorthAnother(error: TributaryError, { isRepeatable }: Sending): boolean {
  if (error.status === 429 || error.code === "request_in_progress") return true;
  return isRepeatable && error.isRetryable && (error.status === 0 || error.status >= 500);
}

// Half of the wait is chance, so that callers who failed together do not come back together.
function waitMsAfter({ retryAfterS }: TributaryError, tries: number): number {
  const grown = Math.min(WAIT_MS_MAX, WAIT_MS_MIN * 2 ** (tries - 1));
  const ownMs = grown / 2 + Math.random() * (grown / 2);
  return retryAfterS === undefined ? ownMs : Math.min(WAIT_MS_MAX, retryAfterS * 1_000 + Math.random() * WAIT_MS_MIN);
}

function wait(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", giveUp);
      resolve();
    }, durationMs);
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener("abort", giveUp, { once: true });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
