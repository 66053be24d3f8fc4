import type { ErrorCode, JsonObject } from "./api.generated.ts";

/**
 * A code of the service, `no_answer` when no response came, or `unreadable_answer` when the response was not the API's
 * JSON.
 */
export type AnyErrorCode = ErrorCode | "no_answer" | "unreadable_answer" | (string & {});

export type TributaryErrorOptions = {
  code: AnyErrorCode;
  message: string;
  /** The HTTP status; 0 without a response. */
  status: number;
  /** The request's id, for the service's operator; undefined without a response. */
  requestId?: string | undefined;
  /** The documentation page of this code. */
  docs?: string | undefined;
  /** Whether the same request may succeed later. */
  isRetryable: boolean;
  /** The wait before a retry, in seconds, if the service named one. */
  retryAfterS?: number | undefined;
  /** The field, header or parameter at fault. */
  param?: string | undefined;
  details?: JsonObject | undefined;
  cause?: unknown;
};

/** Thrown when a call fails. Compare `code`; `message` is for people. */
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

  constructor(options: TributaryErrorOptions) {
    super(options.message, { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.requestId = options.requestId;
    this.docs = options.docs;
    this.isRetryable = options.isRetryable;
    this.retryAfterS = options.retryAfterS;
    this.param = options.param;
    this.details = options.details;
  }
}

/** Converts an error response. Proxies may respond with any body. */
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
      message: `HTTP ${status} without a readable error.`,
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

/** Reads whole seconds. The service does not use the date form. */
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
