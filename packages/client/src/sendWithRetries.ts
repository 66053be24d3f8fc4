import { toTributaryError, TributaryError } from "./errors.ts";

// Sends one HTTP request with bounded retries.

export type RetryableRequest = {
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Whether sending it twice has the effect of sending it once. */
  readonly isRetrySafe: boolean;
  /** The most retries. */
  readonly retriesMax: number;
  /** The timeout of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly fetch: typeof fetch;
};

/** The first wait when the service named none; each further one doubles. */
const BACKOFF = { firstMs: 500, maxMs: 60_000 };

/** The wait after so many earlier failures: the first one doubles with each, up to the longest. */
export function backoffMs(failures: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  return Math.min(firstMs * 2 ** failures, maxMs);
}

/** Returns the response's JSON. Throws a TributaryError, or the signal's reason after an abort. */
export async function sendWithRetries(request: RetryableRequest): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce(request);
    } catch (error) {
      if (!(error instanceof TributaryError) || !shouldRetry(error, request) || attempt > request.retriesMax)
        throw error;
      await sleep(retryDelayMs(error, attempt), request.signal);
    }
  }
}

async function sendOnce(request: RetryableRequest): Promise<unknown> {
  const { url, method, headers, body, signal } = request;
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const init = { method, headers, redirect: "error", ...(body === undefined ? {} : { body }) } as const;
  let response: Response;
  let text: string;
  try {
    response = await request.fetch(url, {
      ...init,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    const reason = timeout.aborted ? `No response within ${request.timeoutMs} ms` : "No response";
    throw new TributaryError({
      code: "no_answer",
      message: `${reason} from ${url}.`,
      status: 0,
      isRetryable: true,
      cause,
    });
  }
  const parsed = parse(text);
  if (!response.ok) throw toTributaryError(response, parsed);
  if (parsed !== undefined) return parsed;
  const requestId = response.headers.get("request-id") ?? undefined;
  const message = `The response of ${url} is not JSON.`;
  throw new TributaryError({
    code: "unreadable_answer",
    message,
    status: response.status,
    requestId,
    isRetryable: false,
  });
}

/** A rate-limited request, or one whose first attempt is still running, had no effect, so any method may be retried. */
function shouldRetry(error: TributaryError, { isRetrySafe }: RetryableRequest): boolean {
  if (error.status === 429 || error.code === "request_in_progress") return true;
  return isRetrySafe && error.isRetryable && (error.status === 0 || error.status >= 500);
}

// Half of the wait is random, so that callers that failed together do not retry together.
function retryDelayMs({ retryAfterS }: TributaryError, attempt: number): number {
  const waitMs = backoffMs(attempt - 1, BACKOFF);
  const jitteredMs = waitMs / 2 + Math.random() * (waitMs / 2);
  return retryAfterS === undefined
    ? jitteredMs
    : Math.min(BACKOFF.maxMs, retryAfterS * 1_000 + Math.random() * BACKOFF.firstMs);
}

function sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, durationMs);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
