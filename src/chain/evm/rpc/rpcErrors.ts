import { ProviderFailed } from "../../reader.ts";
import { CallReverted, type SubmitOutcome } from "../node.ts";
import { isRangeError, parseRangeSuggestion } from "../../rpc/rangeErrors.ts";
import { BATCH_REFUSED, MESSAGE_LENGTH_MAX, parseRetryDelay, RATE_LIMITED, RpcError } from "../../rpc/rpcError.ts";

// Recognizes error texts: nodes and providers describe the same error differently, mostly without an own code. All
// known wordings stand in this file.

/** Ankr's "too many requests"; "limit exceeded", which many use for calls when the text names no range. */
const RATE_LIMITED_CODES: readonly number[] = [429, -32090, -32005];

/** Codes of nodes for a block that they do not know, or have pruned. */
const UNKNOWN_BLOCK_CODES: readonly number[] = [-39_001, 4_444];

/**
 * The node does not have this block (yet, or any more). Behind a load balancer a lagging node answers so: many wordings
 * describe a range beyond its head, and none means a range that is too long. A node that prunes lacks old blocks, or
 * their state.
 */
const UNKNOWN_BLOCK: readonly RegExp[] = [
  /unknown block|block ?not ?found|header not found|blockoutofrange|block is out of range|(?:requested )?block \S+ not found/i,
  /beyond current head|extends beyond|greater than latest block|after last accepted block|unfinalized data/i,
  /invalid block range|invalid block number params|blocks specified in filter|cannot be found|could not be found/i,
  /(?:safe|finalized) block|missing trie node|state (?:at block \S+ )?(?:is )?(?:not |un)available|no state available|historical state|resource not found/i,
  /\bpruned\b|state pruning|data before \S+ is not available|beyond head block|not been executed|current blockchain height/i,
  /could ?n[o']t find (?:finalize)?block|header for hash not found|not currently canonical|block (?:hash )?\S+ does not exist/i,
  /header (?:range )?not found|no header found|block body is missing|receipts not found|history has expired|^missing data$/i,
  /\bheight (?:passed )?is (?:not available|invalid)|requested data is not available/i,
];

const REVERTED =
  /revert|gas required exceeds|invalid opcode|bad ?instruction|invalid_operation|NotActivated|OpcodeNotFound|out ?of ?gas|stack (?:under|over)flow|invalid jump|always failing|VM execution error/i;

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

function dataToText(data: unknown): string {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return text.slice(0, MESSAGE_LENGTH_MAX);
}

function classifyError(code: number, words: string): ProviderFailed["kind"] | undefined {
  if (BATCH_REFUSED.test(words)) return "bad_answer";
  // -32005 means "limit exceeded", of the rate or of the result size; the text decides.
  if (isRangeError(words)) return "range_too_large";
  if (RATE_LIMITED_CODES.includes(code) || RATE_LIMITED.test(words)) return "rate_limited";
  if (UNKNOWN_BLOCK_CODES.includes(code) || UNKNOWN_BLOCK.some((pattern) => pattern.test(words)))
    return "unknown_block";
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
  if (REJECTED.some((pattern) => pattern.test(message))) return { kind: "untakeable", reason: message };
  const kind = classifyError(code, message);
  return { kind: "unknown", reason: message, hasNodeReply: kind !== "rate_limited" && kind !== "timeout" };
}

// The order matters: erigon prefixes its texts, and "replacement transaction underpriced" must not match as a known
// transaction.
const SUBMIT_OUTCOMES: readonly (readonly ["known" | "nonce_used" | "underpriced" | "no_funds", RegExp])[] = [
  [
    "known",
    /already ?(?:known|imported|exists|finalized|in (?:the )?mempool)|known transaction|already_exists|tx already|with (?:the )?same hash/i,
  ],
  ["nonce_used", /nonce (?:is )?too low|old ?nonce|nonce has already been used|invalid nonce.*too low|pool\(stale\)/i],
  [
    "underpriced",
    /underpriced|fee ?too ?low|could not replace|insufficient (?:gas price|fee\b)|(?:fee|price) (?:per gas )?less than|(?:same nonce|had higher priority)|gas price (?:is )?too low|below (?:the |chain |current |configured )*(?:minimum|base fee)|try increasing the (?:gas price|fee)/i,
  ],
  [
    "no_funds",
    /insufficient ?funds|(?:exceeds account|insufficient|insufficient_payer_) ?balance|(?:not|n't have) enough funds|overdraft|overdraws/i,
  ],
];

/** Errors that the same bytes will get again: from every node, or from this one with its configuration. */
const REJECTED: readonly RegExp[] = [
  // Gas and fees.
  /exceeds (?:the )?(?:max(?:imum)? )?(?:block|transaction|per-transaction)(?:'s)? gas limit|gas ?limit ?(?:cap )?exceeded|gas limit (?:is )?too (?:high|low)|gas limit reached,|exceeds current gas limit/i,
  /intrinsic ?gas|floor data gas|supplied gas|(?:gas ?uint(?:64)?|int256|cost) ?overflow|counters (?:to continue|at node level)/i,
  /exceeds the configured cap|fee cap exceeded|per gas (?:higher than|exceeds)/i,
  // The form of the bytes.
  /(?:unsupported|invalid) transaction type|transaction type (?:is )?not (?:supported|activated)/i,
  /invalid (?:transaction )?signature|(?:invalid|wrong) chain ?id|replay-protected|\brlp\b|rlptoolong|failed to decode|empty transaction/i,
  /oversized data|(?:tx|transaction|message|initcode) ?(?:is )?too (?:large|big|long)|initcode size|l2message too long/i,
  /invalid sender|sender (?:is )?not an eoa|sender ?is ?contract|failed ?to ?(?:resolve|recover) ?sender|negative value|nonce (?:has max|exceeds u64)/i,
];
