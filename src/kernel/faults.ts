// Every error code of the API. Codes are appended, never removed and never given another meaning, because clients
// compare them. Each code has a page in docs/errors.

export type FaultRow = {
  status: number;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** Seconds for the Retry-After header, when the wait is known in advance. */
  retryAfterS?: number;
  message: string;
};

const ROWS = {
  missing_version: { status: 400, retryable: false, message: "The Service-Version header is missing." },
  invalid_version: { status: 400, retryable: false, message: "The Service-Version header is not a calendar date." },
  unsupported_version: { status: 400, retryable: false, message: "This Service-Version is not supported." },
  invalid_request: { status: 400, retryable: false, message: "The request is invalid." },
  invalid_json: { status: 400, retryable: false, message: "The body is not valid JSON." },
  invalid_content_type: {
    status: 400,
    retryable: false,
    message: "Content-Type must be application/json, without Content-Encoding.",
  },
  invalid_cursor: { status: 400, retryable: false, message: "The cursor must be one that this list returned." },
  price_required: { status: 400, retryable: false, message: "priceUnits is required for a one-time intent." },
  unsupported_destination: { status: 400, retryable: false, message: "The payout destination is not supported." },
  wallet_required: { status: 400, retryable: false, message: "payoutWallet is required for this namespace." },
  token_required: { status: 400, retryable: false, message: "payoutTokenAddress is required for this chain." },
  destination_required: { status: 400, retryable: false, message: "The account has no default payout destination." },
  unsupported_origin: { status: 400, retryable: false, message: "This chain and token are not a source origin." },
  unauthorized: {
    status: 401,
    retryable: false,
    message: "A valid API key is required, as a bearer token in the Authorization header.",
  },
  key_revoked: { status: 401, retryable: false, message: "This API key has been revoked." },
  key_expired: { status: 401, retryable: false, message: "This API key has expired." },
  insufficient_scope: {
    status: 403,
    retryable: false,
    message: "The API key lacks the scope that this operation requires.",
  },
  account_suspended: { status: 403, retryable: false, message: "This account is suspended." },
  not_found: { status: 404, retryable: false, message: "No such resource." },
  destination_conflict: {
    status: 409,
    retryable: false,
    message: "An active intent with other terms already occupies this destination.",
  },
  events_expired: {
    status: 410,
    retryable: false,
    message: "The next event is older than events are kept. Continue from the oldest one.",
  },
  webhook_endpoint_limit: {
    status: 409,
    retryable: false,
    message: "This account has as many webhook endpoints as it may have.",
  },
  webhook_endpoint_disabled: {
    status: 409,
    retryable: false,
    message: "This webhook endpoint is disabled. Enable it first.",
  },
  intent_has_pending_deposits: {
    status: 409,
    retryable: true,
    message: "The intent has a deposit that is not final yet.",
  },
  idempotency_key_reuse: {
    status: 409,
    retryable: false,
    message: "This Idempotency-Key was used for another request.",
  },
  request_in_progress: {
    status: 409,
    retryable: true,
    retryAfterS: 1,
    message: "A request with this Idempotency-Key is still running.",
  },
  payload_too_large: { status: 413, retryable: false, message: "The body is larger than 64 KiB." },
  rate_limited: { status: 429, retryable: true, message: "Too many requests." },
  source_inbox_refused: { status: 500, retryable: false, message: "The source inbox was refused. Contact support." },
  internal_error: { status: 500, retryable: true, retryAfterS: 5, message: "Something went wrong on our side." },
  source_inbox_unavailable: {
    status: 503,
    retryable: true,
    retryAfterS: 5,
    message: "The issuing gate is temporarily unreachable.",
  },
  source_inbox_not_active: { status: 503, retryable: false, message: "Issuance is disabled for this origin." },
  customer_not_bound: {
    status: 503,
    retryable: true,
    retryAfterS: 2,
    message: "The intent's deposit customer is not bound yet.",
  },
} as const satisfies Record<string, FaultRow>;

export type FaultCode = keyof typeof ROWS;

export const faultRows: Readonly<Record<FaultCode, FaultRow>> = ROWS;

export type FaultDetails = {
  message?: string;
  /** The field, header or parameter at fault. */
  param?: string;
  details?: Readonly<Record<string, unknown>>;
  retryAfterS?: number;
  cause?: unknown;
};

/** An error for the caller, by code. The API answers any other thrown error as internal_error and hides its message. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly param: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterS: number | undefined;

  constructor(code: FaultCode, more: FaultDetails = {}) {
    const row: FaultRow = faultRows[code];
    super(more.message ?? row.message, { cause: more.cause });
    this.code = code;
    this.param = more.param;
    this.details = more.details;
    this.retryAfterS = more.retryAfterS ?? row.retryAfterS;
  }

  get row(): FaultRow {
    return faultRows[this.code];
  }
}
