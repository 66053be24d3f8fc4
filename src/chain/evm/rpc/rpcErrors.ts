import { ProviderFailed } from "../../reader.ts";
import { CallReverted, type SubmitOutcome } from "../node.ts";
import { isRangeError, parseRangeSuggestion } from "./rangeErrors.ts";

// Recognizes error texts: nodes and providers describe the same error differently, mostly without an own code. All known wordings stand in
// this file.

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

const MESSAGE_LENGTH_MAX = 500;

const RATE_LIMITED =
  /rate ?limit|rate exceeded|too many request|requests? (?:per second|limit)|usage limit|limit exceeded for|exceeded (?:its|your|the) (?:\w+ )*(?:capacity|compute units|requests?|quota|throughput)|(?:capacity|quota)(?: limit)? exceeded|daily (?:request )?count|over (?:network traffic|compute unit) limit|ran out of cu/i;

/** Ankr's "too many requests"; "limit exceeded", which many use for calls when the text names no range. */
const RATE_LIMITED_CODES: readonly number[] = [429, -32090, -32005];

/**
 * The node does not have this block (yet, or any more). Behind a load balancer a lagging node answers so: many wordings describe a range
 * beyond its head, and none means a range that is too long.
 */
const UNKNOWN_BLOCK: readonly RegExp[] = [
  /unknown block|block ?not ?found|header not found|blockoutofrange|block is out of range|(?:requested )?block \S+ not found/i,
  /beyond current head|extends beyond|greater than latest block|after last accepted block|unfinalized data/i,
  /invalid block range|invalid block number params|blocks specified in filter|cannot be found|could not be found/i,
  /(?:safe|finalized) block|missing trie node|state (?:is )?not available|no state available|historical state|resource not found/i,
];

/** The batch is refused as a batch or for its length; each single call would succeed. */
const BATCH_REFUSED =
  /\bbatch(?:ed)?\b.*(?:large|size|limit|exceed|support|allow|many|disabled)|(?:exceeds?|many|limit|supported)\b.*\bbatch/i;

const REVERTED =
  /revert|gas required exceeds|invalid opcode|bad ?instruction|invalid_operation|NotActivated|OpcodeNotFound|out of gas|stack (?:under|over)flow|invalid jump|always failing|VM execution error/i;

const TIMEOUT = /time(?:d)? ?out|deadline exceeded/i;

/** Maps a node's error to an error of the port. */
export function toProviderError(host: string, error: unknown): Error {
  if (!(error instanceof RpcError)) return error instanceof Error ? error : new Error(String(error));
  if (isRevert(error)) return new CallReverted(error.message, { cause: error });
  const { code, message, data } = error;
  // Some send only "invalid params" and put the reason into the data.
  const dataText = dataToText(data);
  const kind = classifyError(code, message) ?? classifyError(0, dataText) ?? "bad_answer";
  const fullText = `${message} ${dataText}`;
  const suggestion = kind === "range_too_large" ? parseRangeSuggestion(fullText, data) : undefined;
  const retryAfterMs = kind === "rate_limited" ? parseRetryDelay(fullText) : undefined;
  return new ProviderFailed(kind, `${host} answered ${code}: ${message}`, {
    cause: error,
    ...(suggestion && { suggestion }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

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
  return new ProviderFailed(status >= 500 ? "unreachable" : "bad_answer", message, details);
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
function parseRetryDelay(words: string): number | undefined {
  const [, seconds] =
    /(?:retry|try again) (?:in|after) (\d{1,6}(?:\.\d{1,3})?) ?s(?:ec|\b)|"backoff_seconds":\s*(\d{1,6})/i
      .exec(words)
      ?.filter(Boolean) ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}

function dataToText(data: unknown): string {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return text.slice(0, MESSAGE_LENGTH_MAX);
}

function classifyError(code: number, words: string): ProviderFailed["kind"] | undefined {
  if (BATCH_REFUSED.test(words)) return "bad_answer";
  // -32005 means "limit exceeded", of the rate or of the result size; the text decides.
  if (isRangeError(words)) return "range_too_large";
  if (RATE_LIMITED_CODES.includes(code) || RATE_LIMITED.test(words)) return "rate_limited";
  if (code === -39001 || UNKNOWN_BLOCK.some((pattern) => pattern.test(words))) return "unknown_block";
  return TIMEOUT.test(words) ? "timeout" : undefined;
}

function isRevert({ code, message }: RpcError): boolean {
  return code === 3 || REVERTED.test(message);
}

/** Classifies a node's error to a broadcast. An unrecognized text is `unknown`, never a rejection. */
export function toSubmitOutcome(error: unknown): SubmitOutcome {
  if (!(error instanceof RpcError)) {
    const reason = error instanceof Error ? error.message : "";
    return { kind: "unknown", reason, hasNodeReply: error instanceof ProviderFailed && error.kind === "bad_answer" };
  }
  const { code, message } = error;
  for (const [kind, pattern] of SUBMIT_OUTCOMES) if (pattern.test(message)) return { kind };
  if (REJECTED.test(message)) return { kind: "untakeable", reason: message };
  const kind = classifyError(code, message);
  return { kind: "unknown", reason: message, hasNodeReply: kind !== "rate_limited" && kind !== "timeout" };
}

// The order matters: erigon prefixes its texts, and "replacement transaction underpriced" must not match as a known transaction.
const SUBMIT_OUTCOMES: readonly (readonly ["known" | "nonce_used" | "underpriced" | "no_funds", RegExp])[] = [
  ["known", /already ?(?:known|imported|exists|in (?:the )?mempool)|known transaction|already_exists|tx already/i],
  ["nonce_used", /nonce (?:is )?too low|old ?nonce|nonce has already been used|invalid nonce.*too low/i],
  [
    "underpriced",
    /underpriced|fee ?too ?low|could not replace|max fee per gas less than|below (?:the )?(?:configured )?minimum/i,
  ],
  ["no_funds", /insufficient ?funds|exceeds account balance|insufficient balance|sender doesn't have enough funds/i],
];

/** Errors that the same bytes will get again: from every node, or from this one with its configuration. */
const REJECTED =
  /exceeds the configured cap|fee cap exceeded|exceeds (?:the )?block gas limit|gas limit (?:is )?too high|gas ?limit ?exceeded|intrinsic gas (?:is )?too (?:low|high)|intrinsic gas exceeds|floor data gas|oversized data|higher than max fee per gas|transaction type not supported/i;
