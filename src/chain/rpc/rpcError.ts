import { ProviderFailed } from "../reader.ts";
import { parseRangeSuggestion } from "./rangeErrors.ts";

// Errors of a provider as any kind of chain gets them over JSON-RPC. Each kind maps its own codes and texts.

/** A JSON-RPC error that a node answered. The node maps it to an error of the port. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  static parse(error: unknown, redact = (text: string) => text): RpcError {
    const fields = typeof error === "object" && error !== null ? error : {};
    const code: unknown = Reflect.get(fields, "code");
    const message: unknown = Reflect.get(fields, "message");
    const text =
      typeof message === "string" ? redact(message).slice(0, MESSAGE_LENGTH_MAX) : "an error without a message";
    return new RpcError(typeof code === "number" ? code : 0, text, Reflect.get(fields, "data"));
  }
}

/** Longer texts of providers are cut. */
export const MESSAGE_LENGTH_MAX = 500;

/** Texts of a provider that limits the rate of requests. */
export const RATE_LIMITED =
  /rate ?limit|rate exceeded|too many request|requests? (?:per second|limit)|usage limit|limit exceeded for|exceeded (?:its|your|the) (?:\w+ )*(?:capacity|compute units|requests?|quota|throughput)|(?:capacity|quota)(?: limit)? exceeded|daily (?:request )?count|over (?:network traffic|compute unit) limit|ran out of cu|call limit|limited to [\d,]+ ?\/ ?s|over capacity|too much load/i;

/** The batch is refused as a batch or for its length; each single call would succeed. */
export const BATCH_REFUSED =
  /\bbatch(?:ed)?\b.*(?:large|size|limit|exceed|support|allow|many|disabled)|(?:exceeds?|many|limit|supported)\b.*\bbatch/i;

export type HttpErrorResponse = {
  status: number;
  text: string;
  /** The headers of these names. */
  retryAfter?: string | undefined;
  date?: string | undefined;
};

/** Maps an HTTP error status to an error of the port. */
export function toHttpError(host: string, refusal: HttpErrorResponse): ProviderFailed {
  const { status } = refusal;
  const text = refusal.text.slice(0, MESSAGE_LENGTH_MAX);
  const message = `${host} answered HTTP ${status}: ${text}`;
  const retryAfterMs = parseRetryAfter(refusal) ?? parseRetryDelay(text);
  const details = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return new ProviderFailed("rate_limited", message, details);
  if (status === 413) {
    const suggestion = parseRangeSuggestion(text, undefined);
    return new ProviderFailed("range_too_large", message, suggestion && { suggestion });
  }
  // 522 and 524 are timeouts of a proxy.
  if ([408, 504, 522, 524].includes(status)) return new ProviderFailed("timeout", message, details);
  if (status >= 500) return new ProviderFailed("unreachable", message, details);
  return new ProviderFailed("bad_answer", message, { ...details, cause: new RpcError(status, text, undefined) });
}

/** What a node answers when it fails, and not when it refuses. */
const INTERNAL_ERROR = -32_603;

/**
 * Whether the provider has refused a call, by a status or an error of its own. An answer that cannot be read refuses
 * nothing.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof ProviderFailed) || error.kind !== "bad_answer") return false;
  return error.cause instanceof RpcError && error.cause.code !== INTERNAL_ERROR;
}

/** Whether the calls of a batch should be sent one by one. */
export function isBatchRefused(error: unknown): boolean {
  if (error instanceof ProviderFailed) return error.kind === "range_too_large";
  return error instanceof RpcError && BATCH_REFUSED.test(error.message);
}

/** Retry-After in milliseconds. It is a number of seconds, or a date, relative to the date of the response. */
function parseRetryAfter({ retryAfter, date }: HttpErrorResponse): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\s*\d{1,9}\s*$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - Date.parse(date ?? "");
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/** A delay in the text, in milliseconds: "retry in 7 seconds", or Infura's `backoff_seconds`. */
export function parseRetryDelay(words: string): number | undefined {
  const [, seconds] =
    /(?:retry|try again) (?:in|after) (\d{1,6}(?:\.\d{1,3})?) ?s(?:ec|\b)|"backoff_seconds":\s*(\d{1,6})/i
      .exec(words)
      ?.filter(Boolean) ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}
