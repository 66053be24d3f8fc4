import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { ProviderFailed } from "../../reader.ts";
import { RpcError, toHttpError } from "../../rpc/rpcError.ts";
import { toProviderError, toSubmitOutcome } from "./rpcErrors.ts";

// The texts are the original ones of nodes and providers. Add a misclassified text here first.

type RefusalCase = {
  by: string;
  code: number;
  words: string;
  data?: unknown;
  /** The suggested number of blocks; with "at most" for a general limit. */
  suggests?: `${number}` | `at most ${number}`;
};

const ALCHEMY_SIZE =
  "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0xc5dc00, 0xc614a7]";

const RANGE_REFUSALS: readonly RefusalCase[] = [
  { by: "geth", code: -32000, words: "exceed maximum block range: 5000", suggests: "at most 5000" },
  { by: "geth", code: -32005, words: "query returned more than 10000 results" },
  {
    by: "Erigon",
    code: -32602,
    words: "query block range exceeds server limit, narrow your filter: 1000",
    suggests: "at most 1000",
  },
  { by: "Erigon", code: -32000, words: "query returns too many logs, narrow your filter: 20000" },
  { by: "cdk-erigon", code: -32005, words: "block range too large, max range: 1000", suggests: "at most 1000" },
  {
    by: "Nethermind",
    code: -32602,
    words:
      "Block range 5000 exceeds the maximum of 1000 blocks per logs request. Use a narrower fromBlock/toBlock range or increase Receipt.MaxBlockDepth.",
    suggests: "at most 1000",
  },
  { by: "Nethermind", code: -32005, words: "Too many logs requested. Max logs per response is 20000." },
  { by: "Nethermind", code: -32016, words: "eth_getLogs request was canceled due to enabled timeout." },
  { by: "Besu", code: -32005, words: "Requested range exceeds maximum RPC range limit" },
  { by: "Reth", code: -32602, words: "query exceeds max block range 100000", suggests: "at most 100000" },
  {
    by: "Reth",
    code: -32602,
    words: "query exceeds max results 20000, retry with the range 24383075-24383096",
    suggests: "22",
  },
  { by: "LlamaRPC", code: -32602, words: "query exceeds max results 20000" },
  { by: "Alchemy", code: -32602, words: ALCHEMY_SIZE, suggests: "14504" },
  { by: "Alchemy", code: -32602, words: "Log response size exceeded. Please reduce query block range." },
  {
    by: "Alchemy, free",
    code: -32600,
    words:
      "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.",
    suggests: "at most 10",
  },
  {
    by: "Alchemy",
    code: -32600,
    words:
      "You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x123c9b2, 0x123cba5]",
    suggests: "at most 500",
  },
  {
    by: "Alchemy",
    code: -32000,
    words:
      "Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x5223c98, 0x5223e80]",
    suggests: "489",
  },
  { by: "Alchemy", code: -32000, words: "Query timeout exceeded. Consider reducing your block range." },
  {
    by: "Infura",
    code: -32005,
    words: "query returned more than 10000 results. Try with this block range [0xBDE5F8, 0xBDE6F7].",
    data: { from: "0xBDE5F8", limit: 10000, to: "0xBDE6F7" },
    suggests: "256",
  },
  {
    by: "Infura, the range in the data alone",
    code: -32005,
    words: "query returned more than 10000 results",
    data: { from: "0x10", limit: 10000, to: "0x1f" },
    suggests: "16",
  },
  { by: "Infura", code: -32005, words: "query timeout exceeded" },
  { by: "Infura", code: -32602, words: "range 1000000 exceeds limit of 10000", suggests: "at most 10000" },
  {
    by: "Infura, Polygon",
    code: -32005,
    words: "eth_getLogs block range too large, range: 99991, max: 3500",
    suggests: "at most 3500",
  },
  {
    by: "Infura, OP Mainnet",
    code: -32602,
    words: "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range",
    suggests: "at most 10000",
  },
  { by: "QuickNode", code: -32614, words: "eth_getLogs is limited to a 10,000 range", suggests: "at most 10000" },
  {
    by: "QuickNode, free",
    code: -32615,
    words: "eth_getLogs is limited to a 5 range, upgrade from discover plan at quicknode.com to increase the limit",
    suggests: "at most 5",
  },
  { by: "Ankr", code: -32600, words: "block range is too wide" },
  { by: "Ankr", code: -32602, words: "maximum [from, to] blocks distance: 10000", suggests: "at most 10000" },
  {
    by: "Chainstack",
    code: -32602,
    words: "Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits",
  },
  {
    by: "dRPC, free",
    code: 35,
    words: "ranges over 10000 blocks are not supported on freetier",
    suggests: "at most 10000",
  },
  {
    by: "Cloudflare",
    code: -32047,
    words: "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    suggests: "at most 800",
  },
  { by: "PublicNode", code: -32701, words: "exceed maximum block range: 50000", suggests: "at most 50000" },
  { by: "PublicNode", code: -32701, words: "logs count exceeds the limit 50000" },
  {
    by: "1RPC",
    code: -32000,
    words: "response size should not greater than 2097152 bytes",
  },
  { by: "1RPC", code: -32000, words: "eth_getLogs is limited to 0 - 50 blocks range", suggests: "at most 50" },
  {
    by: "BlockPI",
    code: -32602,
    words: "eth_getLogs is limited to 1024 block range. Please check the parameter requirements",
    suggests: "at most 1024",
  },
  {
    by: "Blast API",
    code: -32600,
    words: "The requested block range exceeds the range allowed for your plan (12345 > 5000)",
    suggests: "at most 5000",
  },
  { by: "Base", code: -32000, words: "please limit the query to at most 1000 blocks", suggests: "at most 1000" },
  { by: "OP Mainnet", code: -32020, words: "backend response too large" },
  { by: "OP Mainnet", code: -32000, words: "Block range is too large" },
  { by: "proxyd", code: -32602, words: "block range greater than 10000 max", suggests: "at most 10000" },
  { by: "Arbitrum", code: -32000, words: "logs matched by query exceeds limit of 10000" },
  {
    by: "Avalanche",
    code: -32000,
    words: "requested too many blocks from 1 to 9000, maximum is set to 2048",
    suggests: "at most 2048",
  },
  {
    by: "Tenderly",
    code: -32602,
    words: "invalid params",
    data: { error_id: "4ed94073", payload: "range 9009594 is bigger than range limit 2000" },
    suggests: "at most 2000",
  },
  {
    by: "thirdweb",
    code: -32602,
    words: "Invalid block range. Maximum allowed number of requested blocks is 3500",
    suggests: "at most 3500",
  },
  {
    by: "MerkleRPC",
    code: -32000,
    words: "eth_getLogs range is too large, max is 1k blocks",
    suggests: "at most 1000",
  },
  { by: "Moonbeam", code: -32603, words: "block range is too wide (maximum 1024)", suggests: "at most 1024" },
  {
    by: "Morph",
    code: -32000,
    words: "block range is larger than max block range, block range = 5120, max block range = 5000",
    suggests: "at most 5000",
  },
  { by: "Scroll", code: -32000, words: "block range is bigger than maxBlockRange" },
  { by: "Harmony", code: -32000, words: "query must be smaller than size 1024", suggests: "at most 1024" },
  { by: "Somnia", code: -32000, words: "block range exceeds 1000", suggests: "at most 1000" },
  {
    by: "a balancer",
    code: -32001,
    words: "Block range too large: maximum allowed is 500 blocks",
    suggests: "at most 500",
  },
  { by: "eRPC", code: -32600, words: "block range threshold exceeded" },
  { by: "Candle", code: -32600, words: "block range too high" },
  {
    by: "PublicNode, without an address",
    code: -32701,
    words:
      "Please specify an address in your request or, to remove restrictions, order a dedicated full node; block range at most 1000",
    suggests: "at most 1000",
  },
  {
    by: "zkSync",
    code: -32602,
    words: "Query returned more than 10000 results. Try with this block range [0x1, 0x2].",
    suggests: "2",
  },
  { by: "NodeReal", code: -32008, words: "Response is too big" },
];

const errorOf = ({ code, words, data }: Pick<RefusalCase, "code" | "words" | "data">) =>
  toProviderError("host", new RpcError(code, words, data));

describe("a refused range is too large, and the suggested size is kept", () => {
  for (const { by, suggests, ...refusal } of RANGE_REFUSALS)
    test(`${by}: ${refusal.words.slice(0, 60)}`, () => {
      const failure = errorOf(refusal);
      ok(failure instanceof ProviderFailed);
      equal(failure.kind, "range_too_large");
      const { suggestion } = failure;
      equal(suggestion && `${suggestion.isLimit ? "at most " : ""}${suggestion.blocks}`, suggests);
    });

  test("an inverted range or an absurd number is no suggestion", () => {
    for (const words of [
      "query returned more than 10000 results. Try with this block range [0x2, 0x1].",
      "exceed maximum block range: 0",
      `exceed maximum block range: ${"9".repeat(40)}`,
    ]) {
      const failure = errorOf({ code: -32000, words });
      ok(failure instanceof ProviderFailed && failure.kind === "range_too_large");
      equal(failure.suggestion, undefined, words);
    }
  });
});

type ErrorCase = readonly [by: string, code: number, words: string, kind: ProviderFailed["kind"] | "CallReverted"];

const OTHER_ERRORS: readonly ErrorCase[] = [
  ["Alchemy", 429, "Your app has exceeded its compute units per second capacity.", "rate_limited"],
  ["Alchemy", -32000, "Monthly capacity limit exceeded. Visit the dashboard to upgrade", "rate_limited"],
  ["Infura", -32005, "daily request count exceeded, request rate limited", "rate_limited"],
  ["Infura", -32005, "project ID request rate exceeded", "rate_limited"],
  ["QuickNode", -32007, "50/second request limit reached - reduce calls per second", "rate_limited"],
  [
    "QuickNode",
    429,
    "The requests per second (RPS) of your requests are higher than your plan allows.",
    "rate_limited",
  ],
  ["Ankr", -32090, "Too many requests", "rate_limited"],
  ["dRPC", 15, "Too many request, try again later", "rate_limited"],
  ["proxyd", -32016, "over rate limit", "rate_limited"],
  ["1RPC", -32001, "You've reached the usage limit for your current plan.", "rate_limited"],
  ["BNB Smart Chain, where eth_getLogs is switched off", -32005, "limit exceeded", "rate_limited"],
  ["geth", -32000, "unknown block", "unknown_block"],
  ["geth", -32000, "header not found", "unknown_block"],
  ["geth, a range beyond its head", -32602, "invalid block range params", "unknown_block"],
  ["geth, a range beyond its head", -32602, "block range extends beyond current head block", "unknown_block"],
  ["geth", -39001, "Unknown block", "unknown_block"],
  ["geth", -32000, "finalized block not found", "unknown_block"],
  ["geth", -32000, "missing trie node abc (path ) state 0x0 is not available", "unknown_block"],
  ["Erigon", -32000, "block not found: 0xabc", "unknown_block"],
  ["Nethermind, a range beyond its head", -32001, "8633830 could not be found", "unknown_block"],
  ["Besu, a range beyond its head", -32602, "Invalid block number params", "unknown_block"],
  ["Hyperliquid, a range beyond its head", -32602, "invalid block range", "unknown_block"],
  ["proxyd", -32019, "block is out of range", "unknown_block"],
  ["Avalanche", -32000, "requested from block 101 after last accepted block 100", "unknown_block"],
  ["Avalanche", -32000, "cannot query unfinalized data", "unknown_block"],
  ["anvil", -32602, "BlockOutOfRangeError: block height is 1 but requested was 256", "unknown_block"],
  [
    "Alchemy",
    -32000,
    "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.",
    "unknown_block",
  ],
  ["geth", -32002, "request timed out", "timeout"],
  ["Besu", -32603, "Timeout expired", "timeout"],
  ["dRPC, free", 30, "Request timeout on the free tier, please upgrade your tier to the paid one", "timeout"],
  ["Besu", -32005, "Number of requests exceeds max batch size", "bad_answer"],
  ["Reth", -32005, "Batched requests are not supported by this server", "bad_answer"],
  ["Erigon", -32602, "query exceeds the maximum of 1000 addresses or topics per search position", "bad_answer"],
  ["geth", -32601, "the method eth_getLogs does not exist/is not available", "bad_answer"],
  ["PublicNode", -32602, "Archive requests require a personal token.", "bad_answer"],
  ["any", -32603, "Internal error", "bad_answer"],
  ["geth", 3, "execution reverted: ERC20: transfer amount exceeds balance", "CallReverted"],
  ["geth", -32000, "execution reverted", "CallReverted"],
  ["Nethermind", -32015, "VM execution error.", "CallReverted"],
  ["geth", -32000, "gas required exceeds allowance (30000000)", "CallReverted"],
];

describe("other provider errors are classified", () => {
  for (const [by, code, words, kind] of OTHER_ERRORS)
    test(`${by}: ${words.slice(0, 60)}`, () => {
      const failure = errorOf({ code, words });
      equal(failure instanceof ProviderFailed ? failure.kind : failure.name, kind);
    });
});

describe("Retry-After of rate limits", () => {
  const retryDelayOf = (status: number, text: string, headers: { retryAfter?: string; date?: string } = {}) => {
    const { kind, retryAfterMs } = toHttpError("host", { status, text, ...headers });
    return `${kind} ${retryAfterMs}`;
  };

  test("Alchemy, Kong and others: Retry-After in seconds", () =>
    equal(retryDelayOf(429, "", { retryAfter: "7" }), "rate_limited 7000"));
  test("Retry-After as a date counts from the date of the answer", () =>
    equal(
      retryDelayOf(429, "", { retryAfter: "Sat, 21 Nov 2026 10:00:30 GMT", date: "Sat, 21 Nov 2026 10:00:00 GMT" }),
      "rate_limited 30000",
    ));
  test("a malformed or past Retry-After is ignored", () => {
    for (const retryAfter of ["soon", "-1", "", "1e9"])
      equal(retryDelayOf(429, "", { retryAfter }), "rate_limited undefined");
    const past = { retryAfter: "Sat, 21 Nov 2026 09:00:00 GMT", date: "Sat, 21 Nov 2026 10:00:00 GMT" };
    equal(retryDelayOf(429, "", past), "rate_limited undefined");
  });
  test("an unavailable provider may send Retry-After too", () =>
    equal(retryDelayOf(503, "", { retryAfter: "120" }), "unreachable 120000"));
  test("MegaETH: the delay is in the text", () =>
    equal(
      retryDelayOf(429, '{"error":{"code":-32022,"message":"over compute unit limit, retry in 3 seconds"}}'),
      "rate_limited 3000",
    ));
  test("Infura: the delay is in the data, with HTTP 200 or 429", () => {
    const data = { rate: { allowed_rps: 1, backoff_seconds: 30, current_rps: 1.1 } };
    const failure = errorOf({ code: -32005, words: "project ID request rate exceeded", data });
    ok(failure instanceof ProviderFailed);
    equal(failure.retryAfterMs, 30_000);
    equal(retryDelayOf(429, JSON.stringify({ error: { code: -32005, data } })), "rate_limited 30000");
  });
  test("QuickNode: HTTP 413 with the limit in its text", () => {
    const text =
      '{"error":{"code":-32615,"message":"eth_getLogs is limited to a 5 range, upgrade from discover plan"}}';
    const { kind, suggestion } = toHttpError("host", { status: 413, text });
    deepEqual([kind, suggestion], ["range_too_large", { blocks: 5n, isLimit: true }]);
  });
});

describe("broadcast errors are classified", () => {
  const answers: readonly (readonly [string, string])[] = [
    ["already known", "known"],
    ["transaction already imported", "known"],
    ["ALREADY_EXISTS: already known", "known"],
    ["AlreadyKnown", "known"],
    ["Known transaction", "known"],
    ["tx already in mempool", "known"],
    ["nonce too low: next nonce 5, tx nonce 3", "nonce_used"],
    ["nonce too low", "nonce_used"],
    ["Nonce too low", "nonce_used"],
    ["OldNonce", "nonce_used"],
    ["replacement transaction underpriced", "underpriced"],
    ["transaction underpriced: gas tip cap 1, minimum needed 25", "underpriced"],
    ["INTERNAL_ERROR: could not replace existing tx", "underpriced"],
    ["max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 7", "underpriced"],
    ["FeeTooLow, EffectivePriorityFeePerGas too low", "underpriced"],
    ["insufficient funds for gas * price + value: balance 0, tx cost 21000", "no_funds"],
    ["Insufficient funds for gas * price + value", "no_funds"],
    ["Upfront cost exceeds account balance", "no_funds"],
    ["tx fee (1.27 ether) exceeds the configured cap (1.00 ether)", "untakeable"],
    ["exceeds block gas limit", "untakeable"],
    ["transaction gas limit too high (cap: 16777216, tx: 20000000)", "untakeable"],
    ["intrinsic gas too low: gas 22937, minimum needed 25000", "untakeable"],
    ["insufficient gas for floor data gas cost: gas 22937, minimum needed 25000", "untakeable"],
    ["Transaction gas limit exceeds block gas limit", "untakeable"],
    ["Intrinsic gas exceeds gas limit", "untakeable"],
    ["Transaction fee cap exceeded", "untakeable"],
    ["GasLimitExceeded, Gas limit: 30000001, gas limit of rejected tx: 40000000", "untakeable"],
    ["max priority fee per gas higher than max fee per gas", "untakeable"],
    ["transaction type not supported", "untakeable"],
    ["oversized data: transaction size 140000, limit 131072", "untakeable"],
    ["txpool is full", "unknown"],
    ["nonce too high", "unknown"],
    ["in-flight transaction limit reached for delegated accounts", "unknown"],
    ["an unrecognized text", "unknown"],
  ];
  for (const [message, kind] of answers) {
    test(message.slice(0, 70), () => equal(toSubmitOutcome(new RpcError(-32000, message, undefined)).kind, kind));
  }
  test("no answer", () => {
    const outcome = toSubmitOutcome(new ProviderFailed("timeout", "took too long"));
    ok(outcome.kind === "unknown" && outcome.reason === "took too long");
  });
  test("hasNodeReply shows whether a node checked the bytes", () => {
    const isAnswered = (error: Error) => {
      const outcome = toSubmitOutcome(error);
      return outcome.kind === "unknown" && outcome.hasNodeReply === true;
    };
    ok(isAnswered(new RpcError(-32000, "txpool is full", undefined)));
    ok(isAnswered(new ProviderFailed("bad_answer", "host answered HTTP 403: no")));
    ok(!isAnswered(new RpcError(-32005, "project ID request rate exceeded", undefined)));
    ok(!isAnswered(new RpcError(-32000, "request timed out", undefined)));
    ok(!isAnswered(new ProviderFailed("timeout", "took too long")));
    ok(!isAnswered(new ProviderFailed("unreachable", "host answered HTTP 503: no")));
  });
});
