import { CallReverted, ProviderFailed, type SubmitOutcome } from "../driver.ts";

// Nodes and providers name the same trouble in many ways, and hardly ever by a code of their own. Everything that knows
// their wordings stands here.

/** An error that a node answered, as it stands in JSON-RPC. It becomes one of the port's errors before it leaves the driver. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  static read(error: unknown): RpcError {
    const fields = typeof error === "object" && error !== null ? error : {};
    const code: unknown = Reflect.get(fields, "code");
    const message: unknown = Reflect.get(fields, "message");
    const text = typeof message === "string" ? message.slice(0, MESSAGE_LENGTH_MAX) : "an error without a message";
    return new RpcError(typeof code === "number" ? code : 0, text, Reflect.get(fields, "data"));
  }
}

const MESSAGE_LENGTH_MAX = 500;

/** Alchemy and Infura -32005/-32602, QuickNode -32614, Cloudflare -32047, geth and its kin, reth, erigon, and proxies before them. */
const RANGE_TOO_LARGE: readonly RegExp[] = [
  /query returned more than/i,
  /log response size exceeded/i,
  /response size (?:should|is|exceed)|response (?:is )?too (?:large|big)|backend response too large/i,
  /limited to (?:a )?[\d,]+ (?:blocks? )?range/i,
  /block range (?:is )?(?:too (?:large|wide)|limit|exceed|at most)|(?:exceed|maximum|max)\w* (?:allowed )?(?:block )?range/i,
  /range (?:is )?too (?:large|wide)|range should work|smaller (?:block )?range|retry with the range/i,
  /reduc\w+ (?:your |the )?(?:block )?range|try with this block range/i,
  /requested too many blocks|too many (?:blocks|results|logs)/i,
  /exceeds? (?:the )?(?:max|limit|maximum)[\w ]*(?:results|logs|blocks)|logs matched by query exceed/i,
  /up to a [\d,.]+k? ?blocks? range/i,
  /query (?:timeout|timed out)|query exceeds/i,
];

const RATE_LIMITED =
  /rate ?limit|too many requests|request limit|limit exceeded for|exceeded (?:its|your|the) (?:\w+ )*(?:capacity|compute units|requests?|quota|throughput)|capacity exceeded|daily (?:request )?count/i;

const UNKNOWN_BLOCK =
  /unknown block|block ?not ?found|header not found|blockoutofrange|beyond current head|block \S+ (?:could not be|not) found|blocks specified in filter|cannot be found|(?:safe|finalized) block|missing trie node|state (?:is )?not available|no state available|historical state|resource not found/i;

const REVERTED =
  /revert|gas required exceeds|invalid opcode|out of gas|stack (?:under|over)flow|invalid jump|always failing|VM execution error/i;

const TIMEOUT = /time(?:d)? ?out|deadline exceeded/i;

/** What a node's answer means to whoever asked: the port's own error. */
export function failureOf(host: string, error: unknown): Error {
  if (!(error instanceof RpcError)) return error instanceof Error ? error : new Error(String(error));
  if (isRevert(error)) return new CallReverted(error.message, { cause: error });
  return new ProviderFailed(kindOf(error), `${host} answered ${error.code}: ${error.message}`, { cause: error });
}

/** A refusal that came as an HTTP status. */
export function httpFailure(host: string, status: number, text: string): ProviderFailed {
  const said = `${host} answered HTTP ${status}: ${text.slice(0, MESSAGE_LENGTH_MAX)}`;
  if (status === 429) return new ProviderFailed("rate_limited", said);
  if (status === 413) return new ProviderFailed("range_too_large", said);
  if (status === 408 || status === 504) return new ProviderFailed("timeout", said);
  return new ProviderFailed(status >= 500 ? "unreachable" : "bad_answer", said);
}

function kindOf({ code, message }: RpcError): ProviderFailed["kind"] {
  if (code === 429) return "rate_limited";
  // -32005 means "limit exceeded", of the rate with some and of the answer's size with others: the words decide.
  if (RANGE_TOO_LARGE.some((pattern) => pattern.test(message))) return "range_too_large";
  if (code === -32005 || RATE_LIMITED.test(message)) return "rate_limited";
  if (code === -39001 || UNKNOWN_BLOCK.test(message)) return "unknown_block";
  return TIMEOUT.test(message) ? "timeout" : "bad_answer";
}

function isRevert({ code, message }: RpcError): boolean {
  return code === 3 || REVERTED.test(message);
}

/** How a node that answered a broadcast with an error took it. Words that nobody here knows are `unknown`, never a refusal. */
export function submitOutcomeOf(error: unknown): SubmitOutcome {
  if (!(error instanceof RpcError)) return { kind: "unknown", reason: error instanceof Error ? error.message : "" };
  const { message } = error;
  for (const [kind, pattern] of SUBMIT_OUTCOMES) if (pattern.test(message)) return { kind };
  return { kind: "unknown", reason: message };
}

// The order matters: erigon prefixes its words, and "replacement transaction underpriced" must not be read as a known one.
const SUBMIT_OUTCOMES: readonly (readonly ["known" | "nonce_used" | "underpriced" | "no_funds", RegExp])[] = [
  ["known", /already ?(?:known|imported|exists|in (?:the )?mempool)|known transaction|already_exists|tx already/i],
  ["nonce_used", /nonce (?:is )?too low|old ?nonce|nonce has already been used|invalid nonce.*too low/i],
  [
    "underpriced",
    /underpriced|fee ?too ?low|could not replace|max fee per gas less than|below (?:the )?(?:configured )?minimum/i,
  ],
  ["no_funds", /insufficient ?funds|exceeds account balance|insufficient balance|sender doesn't have enough funds/i],
];
