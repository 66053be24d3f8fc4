import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openFaultyRpcProxy, type FaultyRpcProxy } from "../../../test/support/faultyRpcProxy.ts";
import { startTestChain, type TestChain } from "../../../test/support/chain.ts";
import { openNodeProxy, type NodeProxy } from "../../dev/chains/nodeProxy.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { openEvmNode, type JsonRpcNode } from "../../chain/evm/rpcNode.ts";
import type { KnownBlock } from "../store/store.ts";
import { readBranch, type Branch } from "./readBranch.ts";

const OWNER = "0x00000000000000000000000000000000000f00d5";

describe("new blocks near the head", () => {
  let chain: TestChain;
  let counting: NodeProxy;
  let faulty: FaultyRpcProxy;
  let node: JsonRpcNode;
  let altered: JsonRpcNode;

  before(async () => {
    chain = await startTestChain();
    counting = await openNodeProxy(chain.rpcUrl, {});
    faulty = await openFaultyRpcProxy(chain.rpcUrl);
    node = openEvmNode({ caip2: chain.caip2, rpcUrl: counting.url });
    altered = openEvmNode({ caip2: chain.caip2, rpcUrl: faulty.url });
  });
  after(async () => {
    for (const each of [node, altered, counting, faulty]) await each.close();
    await chain.stop();
  });

  const latest = async (): Promise<KnownBlock> => node.head("latest");
  const read = (reader: JsonRpcNode, cursor: KnownBlock, transfersSeen: unknown[] = []): Promise<Branch> =>
    readBranch(reader, {
      chain: chain.caip2,
      detection: "blocks",
      cursor,
      tokens: [chain.usdc.address],
      near: 32n,
      deepestReorg: 512n,
      knownBlocks: async () => [cursor],
      locate: async (_, transfers) => {
        transfersSeen.push(...transfers);
        return [];
      },
    });
  const numbersOf = (branch: Branch) =>
    branch.kind === "contiguous" ? branch.blocks.map(({ number }) => number) : branch;

  for (const blocks of [1, 5, 11])
    test(`${blocks} of them cost two requests`, async () => {
      const cursor = await latest();
      await chain.mine(blocks);
      const before = counting.count.requests;
      const branch = await read(node, cursor);
      equal(counting.count.requests - before, 2);
      deepEqual(
        numbersOf(branch),
        Array.from({ length: blocks }, (_, index) => cursor.number + BigInt(index + 1)),
      );
    });

  test("a transfer in the midst of them is read with them", async () => {
    const cursor = await latest();
    await chain.mine(2);
    const paid = await chain.pay(chain.usdc.address, OWNER, { amountUnits: 7n });
    await chain.mine(2);
    const seen: { chainTx: string }[] = [];
    await read(node, cursor, seen);
    deepEqual(
      seen.map(({ chainTx }) => chainTx),
      [paid.transactionHash],
    );
  });

  test("logs that a node behind the same name does not have yet make their blocks suspect", async () => {
    const cursor = await latest();
    const paid = await chain.pay(chain.usdc.address, OWNER, { amountUnits: 7n });
    await chain.mine(2);
    faulty.alterReply = ({ method }, answer) => (method === "eth_getLogs" ? [] : answer);
    const branch = await read(altered, cursor);
    faulty.alterReply = undefined;
    ok(branch.kind === "contiguous");
    deepEqual(
      branch.suspects.map(({ block }) => block.hash),
      [paid.blockHash],
    );
  });

  test("an end that is another block before and after the logs is not taken", async () => {
    const cursor = await latest();
    await chain.mine(3);
    const head = await latest();
    let asked = 0;
    faulty.alterReply = ({ method, params }, answer) => {
      const isEnd = method === "eth_getBlockByNumber" && params[0] === `0x${head.number.toString(16)}`;
      if (!isEnd || (asked += 1) % 2 === 1) return answer;
      return { ...(answer as object), hash: `0x${"ab".repeat(32)}` };
    };
    const outcome = await read(altered, cursor).catch((error: unknown) => error);
    faulty.alterReply = undefined;
    ok(outcome instanceof ProviderFailed && outcome.kind === "unknown_block");
  });

  test("a log that names another hash than its block's is not taken", async () => {
    const cursor = await latest();
    await chain.pay(chain.usdc.address, OWNER, { amountUnits: 7n });
    await chain.mine(3);
    faulty.alterReply = ({ method }, answer) =>
      method === "eth_getLogs"
        ? (answer as object[]).map((log) => ({ ...log, blockHash: `0x${"cd".repeat(32)}` }))
        : answer;
    const outcome = await read(altered, cursor).catch((error: unknown) => error);
    faulty.alterReply = undefined;
    ok(outcome instanceof ProviderFailed && outcome.kind === "unknown_block");
  });

  test("blocks that do not follow the cursor are read one by one", async () => {
    const cursor = await latest();
    await chain.mine(3);
    const replaced = { number: cursor.number, hash: `0x${"ef".repeat(32)}` };
    const branch = await readBranch(node, {
      chain: chain.caip2,
      detection: "blocks",
      cursor: replaced,
      tokens: [chain.usdc.address],
      near: 32n,
      deepestReorg: 512n,
      knownBlocks: async () => [replaced, { number: cursor.number, hash: cursor.hash }],
      locate: async () => [],
    });
    ok(branch.kind === "contiguous" && branch.ancestor.hash === cursor.hash);
  });
});
