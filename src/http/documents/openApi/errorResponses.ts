import { Fault, faultRows, type FaultCode, type FaultDetails } from "../../../kernel/faults.ts";
import { CREATE_INTENTS } from "../../../merchant/keys/scopes.ts";
import { API_VERSIONS } from "../../checks/checkVersion.ts";
import { toErrorEnvelope } from "../../errorEnvelope.ts";
import type { OperationSpec } from "../../operation.ts";
import { EXAMPLE_INTENT_ID } from "../../schema/examples.ts";
import type { JsonObject } from "./jsonObject.ts";
import { referenceHeaders, type HeaderName } from "./responseHeaders.ts";

/** Codes that any request can get, from the checks before its operation or from an internal failure. */
const COMMON_FAULTS: readonly FaultCode[] = [
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
const BODY_FAULTS: readonly FaultCode[] = ["invalid_json", "invalid_content_type"];
const IDEMPOTENCY_FAULTS: readonly FaultCode[] = ["idempotency_key_reuse", "request_in_progress"];

/** Statuses that are the same in most operations; the document contains each once. */
export const COMMON_STATUSES: readonly number[] = [
  ...new Set(COMMON_FAULTS.map((code) => faultRows[code].status)),
].toSorted((one, other) => one - other);

/** Groups the codes of an operation by status, in the order of the checks. */
export function groupFaultsByStatus({
  method,
  faults,
  acceptsIdempotencyKey = false,
}: OperationSpec): Map<number, FaultCode[]> {
  const codes = [
    ...COMMON_FAULTS,
    ...(method !== "GET" ? BODY_FAULTS : []),
    ...faults,
    ...(acceptsIdempotencyKey ? IDEMPOTENCY_FAULTS : []),
  ];
  const statuses = [...new Set(codes.map((code) => faultRows[code].status))].toSorted((one, other) => one - other);
  return new Map(statuses.map((status) => [status, codes.filter((code) => faultRows[code].status === status)]));
}

export type ErrorResponseOptions = { baseUrl: string; codes?: readonly FaultCode[] };

/** Builds an error response. Without `codes` it covers the codes common to all operations. */
export function buildErrorResponse(
  status: number,
  { baseUrl, codes = commonFaultsWithStatus(status) }: ErrorResponseOptions,
): JsonObject {
  const codeSchema = { properties: { code: { type: "string", enum: codes } } };
  const errorSchema = { allOf: [{ $ref: "#/components/schemas/Error" }, codeSchema] };
  const examples = codes.map((code): [string, JsonObject] => [
    code,
    { summary: faultRows[code].message, value: buildErrorExample(code, baseUrl) },
  ]);
  return {
    description: codes.map((code) => `\`${code}\`: ${faultRows[code].message}`).join("\n\n"),
    headers: referenceHeaders(errorHeaderNames(status, codes)),
    content: {
      "application/json": {
        schema: { type: "object", required: ["error"], properties: { error: errorSchema } },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** Returns the response, or a reference when the document already contains it. */
export function referenceErrorResponse(status: number, codes: readonly FaultCode[], baseUrl: string): JsonObject {
  const isUniversal = codes.join() === commonFaultsWithStatus(status).join();
  return isUniversal
    ? { $ref: `#/components/responses/Error${status}` }
    : buildErrorResponse(status, { baseUrl, codes });
}

function commonFaultsWithStatus(status: number): readonly FaultCode[] {
  return COMMON_FAULTS.filter((code) => faultRows[code].status === status);
}

/** The headers of an error status. A 429 computes its Retry-After; other codes take theirs from the table. */
function errorHeaderNames(status: number, codes: readonly FaultCode[]): HeaderName[] {
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

/** Details of the example errors, beside the code's own message. */
const FAULT_EXAMPLES: Partial<Record<FaultCode, FaultDetails>> = {
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

export function buildErrorExample(code: FaultCode, baseUrl: string): object {
  return toErrorEnvelope(new Fault(code, FAULT_EXAMPLES[code] ?? {}), { requestId: EXAMPLE_REQUEST_ID, baseUrl });
}
