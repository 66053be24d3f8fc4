import type { ErrorCode, JsonObject } from "./api.generated.ts";

/** What a service answered, or `no_answer` when none came, or `unreadable_answer` when it was no JSON of ours. */
export type AnyErrorCode = ErrorCode | "no_answer" | "unreadable_answer" | (string & {});

export type TributaryErrorOptions = {
  code: AnyErrorCode;
  message: string;
  /** HTTP status; 0 when there was no answer. */
  status: number;
  /** Names the call to whoever runs the service; undefined when there was no answer. */
  requestId?: string | undefined;
  /** The page about this code. */
  docs?: string | undefined;
  /** Whether the same request may succeed later. */
  isRetryable: boolean;
  /** How long to wait before that, in seconds, where the service said it. */
  retryAfterS?: number | undefined;
  /** The field, header or parameter at fault. */
  param?: string | undefined;
  details?: JsonObject | undefined;
  cause?: unknown;
};

/** A call that did not succeed. Compare `code`; `message` is for people. */
export class TributaryError extends Error {
  override readonly name = "TributaryError";
  readonly code: AnyErrorCode;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly docs: string | undefined;
  readonly isRetryable: boolean;
  readonly retryAfterS: number | undefined;
  readonly param: string | undefined;
  readonly details: JsonObject | undefined;

  constructor(facts: TributaryErrorOptions) {
    super(facts.message, { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.docs = facts.docs;
    this.isRetryable = facts.isRetryable;
    this.retryAfterS = facts.retryAfterS;
    this.param = facts.param;
    this.details = facts.details;
  }
}

/** The error that an unsuccessful answer tells; proxies on the way may answer with anything. */
export function toTributaryError(response: Response, body: unknown): TributaryError {
  const error = readField(body, "error");
  const code = readString(error, "code");
  const status = response.status;
  const common = {
    status,
    requestId: response.headers.get("request-id") ?? undefined,
    retryAfterS: parseRetryAfter(response),
  };
  if (code === undefined) {
    const isRetryable = status === 429 || status >= 500;
    return new TributaryError({
      ...common,
      code: "unreadable_answer",
      message: `HTTP ${status}, and no reason that could be read.`,
      isRetryable,
    });
  }
  return new TributaryError({
    ...common,
    code,
    message: readString(error, "message") ?? code,
    docs: readString(error, "docs"),
    param: readString(error, "param"),
    isRetryable: readField(error, "retryable") === true || status === 429,
    details: readField(error, "details") as JsonObject | undefined,
  });
}

/** Whole seconds; the form with a date is not one that the service uses. */
function parseRetryAfter({ headers }: Response): number | undefined {
  const text = headers.get("retry-after");
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

function readString(value: unknown, name: string): string | undefined {
  const field = readField(value, name);
  return typeof field === "string" ? field : undefined;
}

function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
