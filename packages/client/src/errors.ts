import type { ErrorCode, JsonObject } from "./api.generated.ts";

/** What a service answered, or `no_answer` when none came, or `unreadable_answer` when it was no JSON of ours. */
export type AnyErrorCode = ErrorCode | "no_answer" | "unreadable_answer" | (string & {});

export type ErrorFacts = {
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

  constructor(facts: ErrorFacts) {
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
export function errorOfAnswer(answer: Response, body: unknown): TributaryError {
  const said = fieldOf(body, "error");
  const code = textOf(said, "code");
  const status = answer.status;
  const common = { status, requestId: answer.headers.get("request-id") ?? undefined, retryAfterS: waitOf(answer) };
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
    message: textOf(said, "message") ?? code,
    docs: textOf(said, "docs"),
    param: textOf(said, "param"),
    isRetryable: fieldOf(said, "retryable") === true || status === 429,
    details: fieldOf(said, "details") as JsonObject | undefined,
  });
}

/** Whole seconds; the form with a date is not one that the service uses. */
function waitOf({ headers }: Response): number | undefined {
  const text = headers.get("retry-after");
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

function textOf(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
