import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { ProviderFailed } from "../driver.ts";
import { failureOf, RpcError, submitOutcomeOf } from "./failures.ts";

// The words are those of the nodes and providers themselves. A new one that is misread belongs here first.

const kindOf = (code: number, message: string) => {
  const failure = failureOf("host", new RpcError(code, message, undefined));
  return failure instanceof ProviderFailed ? failure.kind : failure.name;
};

describe("a refused question for logs is too large", () => {
  const refusals: readonly (readonly [number, string])[] = [
    [
      -32602,
      "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x1, 0x2]",
    ],
    [-32600, "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range."],
    [-32005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."],
    [-32614, "eth_getLogs is limited to a 10,000 range"],
    [-32602, "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range"],
    [-32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800"],
    [-32000, "exceed maximum block range: 50000"],
    [-32000, "requested too many blocks from 1 to 9000, maximum is set to 2048"],
    [-32000, "logs matched by query exceeds limit of 10000"],
    [-32602, "query exceeds max block range 100000"],
    [-32602, "query exceeds max results 20000, retry with the range 1-2"],
    [-32020, "backend response too large"],
    [-32008, "Response is too big"],
    [-32000, "block range is too wide"],
    [-32600, "Block range limit exceeded"],
    [-32000, "query timeout exceeded"],
    [-32000, "Query timeout exceeded. Consider reducing your block range."],
    [
      -32701,
      "Please specify an address in your request or, to remove restrictions, order a dedicated full node; block range at most 1000",
    ],
  ];
  for (const [code, message] of refusals)
    test(message.slice(0, 70), () => equal(kindOf(code, message), "range_too_large"));
});

describe("other troubles of a provider are told apart", () => {
  const answers: readonly (readonly [number, string, string])[] = [
    [429, "Your app has exceeded its compute units per second capacity.", "rate_limited"],
    [-32005, "daily request count exceeded, request rate limited", "rate_limited"],
    [-32007, "50/second request limit reached - reduce calls per second", "rate_limited"],
    [-32016, "over rate limit", "rate_limited"],
    [-32000, "unknown block", "unknown_block"],
    [-32000, "header not found", "unknown_block"],
    [-32000, "block not found: 0xabc", "unknown_block"],
    [-39001, "Unknown block", "unknown_block"],
    [-32000, "finalized block not found", "unknown_block"],
    [-32602, "BlockOutOfRangeError: block height is 1 but requested was 256", "unknown_block"],
    [-32000, "block range extends beyond current head block", "unknown_block"],
    [-32000, "missing trie node abc (path ) state 0x0 is not available", "unknown_block"],
    [
      -32000,
      "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.",
      "unknown_block",
    ],
    [-32002, "request timed out", "timeout"],
    [-32601, "the method eth_getLogs does not exist/is not available", "bad_answer"],
    [-32603, "Internal error", "bad_answer"],
    [3, "execution reverted: ERC20: transfer amount exceeds balance", "CallReverted"],
    [-32000, "execution reverted", "CallReverted"],
    [-32015, "VM execution error.", "CallReverted"],
    [-32000, "gas required exceeds allowance (30000000)", "CallReverted"],
  ];
  for (const [code, message, kind] of answers) test(message.slice(0, 70), () => equal(kindOf(code, message), kind));
});

describe("an answered broadcast says what became of it", () => {
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
    ["txpool is full", "unknown"],
    ["something nobody has read before", "unknown"],
  ];
  for (const [message, kind] of answers) {
    test(message.slice(0, 70), () => equal(submitOutcomeOf(new RpcError(-32000, message, undefined)).kind, kind));
  }
  test("no answer", () => {
    const outcome = submitOutcomeOf(new ProviderFailed("timeout", "took too long"));
    ok(outcome.kind === "unknown" && outcome.reason === "took too long");
  });
});
