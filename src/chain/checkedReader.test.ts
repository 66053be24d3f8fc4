import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { checkedReader } from "./checkedReader.ts";
import { ProviderFailed, type ChainReader, type Transfer, type TransferScope } from "./reader.ts";

const TOKEN = "0xtoken";
const byHash = { blockHash: "0xa16", blockNumber: 16n };
const byRange = { fromBlock: 15n, toBlock: 17n };
const transfer: Transfer = {
  token: TOKEN,
  from: "0xfrom",
  to: "0xto",
  amountText: "0x5",
  chainTx: "0xtx",
  place: 3n,
  blockNumber: 16n,
  blockHash: "0xa16",
};

function read(answer: Partial<Transfer>[], scope: TransferScope = byHash, parties?: string[]): Promise<Transfer[]> {
  const transfers = answer.map((changed) => ({ ...transfer, ...changed }));
  const reader = checkedReader({ name: "one", transfers: async () => transfers } as unknown as ChainReader);
  return reader.transfers(scope, [TOKEN], parties);
}

const isContradictory = (error: unknown) => error instanceof ProviderFailed && error.kind === "contradictory";

for (const [what, answer, scopes] of [
  ["a number below that of its block", [{ blockNumber: 1n }], [byHash, byRange]],
  ["a number above that of its block", [{ blockNumber: 18n }], [byHash, byRange]],
  ["the hash of another block", [{ blockHash: "0xb16" }], [byHash]],
  ["two hashes of one number", [{}, { blockHash: "0xb16", place: 4n }], [byRange]],
  ["two numbers of one hash", [{}, { blockNumber: 15n, place: 4n }], [byRange]],
  ["another token", [{ token: "0xother" }], [byHash, byRange]],
  ["two transfers in one place", [{}, { amountText: "0x6" }], [byHash, byRange]],
] as const)
  for (const scope of scopes)
    test(`an answer of ${"blockHash" in scope ? "a block" : "a range"} with ${what} is refused`, () =>
      rejects(read([...answer], scope), isContradictory));

test("an answer with transfers of other parties is refused", async () => {
  await rejects(read([{}], byHash, ["0xelse"]), isContradictory);
  deepEqual(await read([{}], byHash, ["0xto"]), [transfer]);
});

test("an answer that fits is returned as it is, repetitions included", async () => {
  for (const scope of [byHash, byRange]) deepEqual(await read([{}, {}], scope), [transfer, transfer]);
  deepEqual(await read([], byHash), []);
});

test("proofs of other transactions and balances and holdings of other addresses are refused", async () => {
  const reader = checkedReader({
    name: "one",
    proofs: async () => [{ chainTx: "0xelse" }],
    balances: async () => [1n, 2n],
    holdings: async () => ({ blockNumber: 1n, units: [1n, 2n] }),
  } as unknown as ChainReader);
  await rejects(reader.proofs(["0xtx"]), isContradictory);
  await rejects(reader.balances(TOKEN, ["0xto"], { blockNumber: 1n }), isContradictory);
  await rejects(reader.holdings?.(TOKEN, ["0xto"]) ?? Promise.resolve(), isContradictory);
  deepEqual(await reader.holdings?.(TOKEN, ["0xto", "0xelse"]), { blockNumber: 1n, units: [1n, 2n] });
});
