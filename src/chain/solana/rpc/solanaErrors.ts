import { ProviderFailed } from "../../reader.ts";
import { BATCH_REFUSED, parseRetryDelay, RATE_LIMITED, RpcError } from "../../rpc/rpcError.ts";

// The errors of a Solana node, by their codes. Providers in front of nodes add their own texts about rates.

const BLOCK_CLEANED_UP = -32_001;
const BLOCK_NOT_AVAILABLE = -32_004;
const NODE_UNHEALTHY = -32_005;
const SLOT_SKIPPED = -32_007;
const SLOT_SKIPPED_IN_LONG_TERM_STORAGE = -32_009;
const HISTORY_NOT_AVAILABLE = -32_011;
const BLOCK_STATUS_NOT_AVAILABLE_YET = -32_014;
const UNSUPPORTED_VERSION = -32_015;
const SLOT_NOT_REACHED = -32_016;
const LONG_TERM_STORAGE_UNREACHABLE = -32_019;

const SKIPPED: readonly number[] = [SLOT_SKIPPED, SLOT_SKIPPED_IN_LONG_TERM_STORAGE];
/** The node does not have the block yet, or any more. */
const UNKNOWN_BLOCK: readonly number[] = [
  BLOCK_CLEANED_UP,
  BLOCK_NOT_AVAILABLE,
  HISTORY_NOT_AVAILABLE,
  BLOCK_STATUS_NOT_AVAILABLE_YET,
  SLOT_NOT_REACHED,
];
const UNREACHABLE: readonly number[] = [NODE_UNHEALTHY, LONG_TERM_STORAGE_UNREACHABLE];
const RATE_LIMITED_CODE = 429;

/**
 * The node says that no block was produced in the slot, or that it lacks it: both have one code, which providers also
 * use for a refused rate.
 */
export function isSkippedSlot(error: unknown): boolean {
  return error instanceof RpcError && SKIPPED.includes(error.code) && !RATE_LIMITED.test(error.message);
}

export function isUnknownBlock(error: unknown): boolean {
  return error instanceof RpcError && UNKNOWN_BLOCK.includes(error.code);
}

/**
 * The reason why a node refuses a transaction because of its version; undefined for another error. Nodes word it alike.
 */
export function describeUnsupportedVersion({ code, message }: RpcError): string | undefined {
  if (code !== UNSUPPORTED_VERSION) return undefined;
  const version = /version \((?<version>\d{1,3})\)/i.exec(message)?.groups?.["version"];
  return version === undefined ? "a version that this release does not read" : `version ${version}`;
}

/** Maps a node's error to an error of the port. */
export function toProviderError(host: string, error: unknown): Error {
  if (!(error instanceof RpcError)) return error instanceof Error ? error : new Error(String(error));
  const kind = classify(error);
  const retryAfterMs = kind === "rate_limited" ? parseRetryDelay(error.message) : undefined;
  const reason = error.code === UNSUPPORTED_VERSION ? " (this release cannot read the transaction)" : "";
  return new ProviderFailed(kind, `${host} answered ${error.code}: ${error.message}${reason}`, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function classify({ code, message }: RpcError): ProviderFailed["kind"] {
  if (SKIPPED.includes(code) && RATE_LIMITED.test(message)) return "rate_limited";
  if (UNKNOWN_BLOCK.includes(code) || SKIPPED.includes(code)) return "unknown_block";
  if (UNREACHABLE.includes(code)) return "unreachable";
  if (BATCH_REFUSED.test(message)) return "bad_answer";
  return code === RATE_LIMITED_CODE || RATE_LIMITED.test(message) ? "rate_limited" : "bad_answer";
}
