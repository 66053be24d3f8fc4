import { Fault, faultRows, type FaultCode, type FaultDetails } from "../../../kernel/faults.ts";
import { CREATE_INTENTS } from "../../../merchant/scopes.ts";
import { API_VERSIONS } from "../../checks/version.ts";
import { envelopeOf } from "../../envelope.ts";
import type { OperationFacts } from "../../operation.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";
import type { Json } from "./json.ts";
import { headersByReference, type HeaderName } from "./headers.ts";

/** What any call can be answered with, before its operation is reached or when that fails. */
const UNIVERSAL: readonly FaultCode[] = [
  "missing_version",
  "invalid_version",
  "unsupported_version",
  "invalid_request",
  "unauthorized",
  "key_revoked",
  "key_expired",
  "insufficient_scope",
  "account_suspended",
  "not_found",
  "payload_too_large",
  "rate_limited",
  "internal_error",
];
const OF_BODIES: readonly FaultCode[] = ["invalid_json", "invalid_content_type"];
const OF_IDEMPOTENCY: readonly FaultCode[] = ["idempotency_key_reuse", "request_in_progress"];

/** The statuses that look alike in most operations; the document has each of them once. */
export const UNIVERSAL_STATUSES: readonly number[] = [
  ...new Set(UNIVERSAL.map((code) => faultRows[code].status)),
].toSorted((one, other) => one - other);

/** Every code that an operation can answer with, by status, the codes in the order in which the checks are made. */
export function faultsOf({ method, faults, isIdempotent = false }: OperationFacts): Map<number, FaultCode[]> {
  const codes = [
    ...UNIVERSAL,
    ...(method === "POST" ? OF_BODIES : []),
    ...faults,
    ...(isIdempotent ? OF_IDEMPOTENCY : []),
  ];
  const statuses = [...new Set(codes.map((code) => faultRows[code].status))].toSorted((one, other) => one - other);
  return new Map(statuses.map((status) => [status, codes.filter((code) => faultRows[code].status === status)]));
}

export type ErrorContext = { baseUrl: string; codes?: readonly FaultCode[] };

/** An error's answer. Without codes of its own it has those that every operation has. */
export function errorAnswer(status: number, { baseUrl, codes = universalOf(status) }: ErrorContext): Json {
  const narrowed = { properties: { error: { properties: { code: { type: "string", enum: codes } } } } };
  const examples = codes.map((code): [string, Json] => [
    code,
    { summary: faultRows[code].message, value: errorExample(code, baseUrl) },
  ]);
  return {
    description: codes.map((code) => `\`${code}\`: ${faultRows[code].message}`).join("\n\n"),
    headers: headersByReference(headersOf(status, codes)),
    content: {
      "application/json": {
        schema: { allOf: [{ $ref: "#/components/schemas/ErrorEnvelope" }, narrowed] },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** The answer, or where the document has it already. */
export function errorAnswerOf(status: number, codes: readonly FaultCode[], baseUrl: string): Json {
  const isUniversal = codes.join() === universalOf(status).join();
  return isUniversal ? { $ref: `#/components/responses/Error${status}` } : errorAnswer(status, { baseUrl, codes });
}

function universalOf(status: number): readonly FaultCode[] {
  return UNIVERSAL.filter((code) => faultRows[code].status === status);
}

/** The Retry-After of a 429 is computed; the others' stands in the table of codes. */
function headersOf(status: number, codes: readonly FaultCode[]): HeaderName[] {
  const waits = status === 429 || codes.some((code) => "retryAfterS" in faultRows[code]);
  return [
    "Request-Id",
    "Service-Version",
    ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
    ...(status !== 401 ? (["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const) : []),
    ...(waits ? (["Retry-After"] as const) : []),
  ];
}

const VERSION_DETAILS: FaultDetails = { param: "Service-Version", details: { supported: API_VERSIONS } };

/** What some codes say beside their message. */
const SAID: Partial<Record<FaultCode, FaultDetails>> = {
  missing_version: VERSION_DETAILS,
  invalid_version: VERSION_DETAILS,
  unsupported_version: VERSION_DETAILS,
  invalid_request: {
    param: "priceUnits",
    message: "priceUnits must be a whole number from 1 to 9007199254740991.",
  },
  invalid_content_type: { param: "Content-Type" },
  invalid_cursor: { param: "cursor" },
  price_required: { param: "priceUnits" },
  unsupported_destination: { param: "payoutWallet" },
  unsupported_origin: { param: "chainId" },
  insufficient_scope: { details: { requiredScope: CREATE_INTENTS } },
  intent_has_pending_deposits: { details: { pendingCount: 1 } },
  rate_limited: { retryAfterS: 12 },
  not_found: { message: "No such intent." },
  destination_conflict: { details: { intentId: EXAMPLE_INTENT_ID } },
};

const EXAMPLE_REQUEST_ID = "req_5f8h1k4n7q0s3v6y9b2d5g8j1m";

export function errorExample(code: FaultCode, baseUrl: string): object {
  return envelopeOf(new Fault(code, SAID[code] ?? {}), { requestId: EXAMPLE_REQUEST_ID, baseUrl });
}
