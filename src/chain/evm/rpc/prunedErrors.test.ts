import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { ProviderFailed } from "../../reader.ts";
import { RpcError } from "../../rpc/rpcError.ts";
import { toProviderError } from "./rpcErrors.ts";

// What nodes answer about blocks that they have pruned, or do not have yet. The texts are the original ones.

const ANSWERS: readonly (readonly [by: string, code: number, words: string])[] = [
  ["geth, Besu and reth, pruned", 4444, "pruned history unavailable"],
  ["a pruned node in its own words", 4444, "history expired"],
  ["reth, pruned state", -32603, "state at block #11052984 is pruned"],
  ["reth, ahead of its execution", -32603, "state at block #9 is not available"],
  ["Erigon, pruned", -32000, "seek with txNum=19 but data before txNum=26 is not available"],
  ["OpenEthereum, pruned", -32000, "This request is not supported because your node is running with state pruning."],
  ["Besu, pruned state", -32000, "World state unavailable"],
  ["geth, a replaced block", -32000, "hash is not currently canonical"],
  ["geth", -32000, "header for hash not found"],
];

describe("a pruned block is an unknown one", () => {
  for (const [by, code, words] of ANSWERS)
    test(`${by}: ${words.slice(0, 60)}`, () => {
      const failure = toProviderError("host", new RpcError(code, words, undefined));
      ok(failure instanceof ProviderFailed);
      equal(failure.kind, "unknown_block");
    });
});
