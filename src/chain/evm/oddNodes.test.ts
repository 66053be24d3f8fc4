import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { startTestChain, type TestChain } from "../../../test/support/chain.ts";
import { openNodeProxy, type NodeProxy, type NodeTraits } from "../../dev/chains/nodeProxy.ts";
import { systemClock } from "../../kernel/clock.ts";
import { findBlockBefore } from "../../watch/follow/initializeCursor.ts";
import { ProviderFailed } from "../reader.ts";
import { EvmProviders } from "./evmProviders.ts";
import { openEvmNode, type JsonRpcNode } from "./rpcNode.ts";

const OWNERS = ["01", "02", "03"].map((byte) => `0x00000000000000000000000000000000000000${byte}` as const);
const KEPT_BLOCKS = 20;

// Nodes as public networks have them, by a proxy before a real one.

describe("nodes that differ from anvil", () => {
  let chain: TestChain;
  const opened: (NodeProxy | { close(): Promise<void> })[] = [];

  before(async () => {
    chain = await startTestChain();
    for (const [index, owner] of OWNERS.entries())
      await chain.mint(chain.usdc.address, owner, BigInt(index + 1) * 1_000n);
    await chain.mine(2 * KEPT_BLOCKS);
  });
  after(async () => {
    for (const each of opened) await each.close();
    await chain.stop();
  });

  async function open(traits: NodeTraits): Promise<{ node: JsonRpcNode; proxy: NodeProxy }> {
    const proxy = await openNodeProxy(chain.rpcUrl, traits);
    const node = openEvmNode({ caip2: chain.caip2, rpcUrl: proxy.url });
    opened.push(node, proxy);
    return { node, proxy };
  }

  test("a node that has pruned its first block identifies its chain", async () => {
    const { node } = await open({ keptBlocks: KEPT_BLOCKS });
    deepEqual(await node.identify(), { caip2: chain.caip2, genesisHash: undefined });
    equal(await node.block({ number: 0n }), undefined);
    const head = await node.head("latest");
    deepEqual(await node.block({ number: head.number }), head);
  });

  test("a node that refuses its first block identifies its chain", async () => {
    const { node } = await open({ refusesFirstBlock: true });
    deepEqual(await node.identify(), { caip2: chain.caip2, genesisHash: undefined });
  });

  test("providers of one chain go together when one of them has pruned its first block", async () => {
    const { node: pruned } = await open({ keptBlocks: KEPT_BLOCKS });
    const { node: archive } = await open({});
    const providers = new EvmProviders([pruned, archive], { clock: systemClock, log: pino({ level: "silent" }) });
    await providers.verify();
    const genesis = await chain.client.getBlock({ blockNumber: 0n });
    deepEqual(await providers.identify(), { caip2: chain.caip2, genesisHash: genesis.hash });
  });

  test("a start below the pruned blocks begins at the lowest one that the node has", async () => {
    const { node } = await open({ keptBlocks: KEPT_BLOCKS });
    const latest = await node.head("latest");
    const start = await findBlockBefore(node, latest, new Date(0));
    equal(start.number, latest.number - BigInt(KEPT_BLOCKS) + 1n);
  });

  test("pruned state and logs are an unknown block, and bundled calls go on", async () => {
    const { node, proxy } = await open({ keptBlocks: KEPT_BLOCKS });
    const head = await node.head("latest");
    const old = head.number - BigInt(KEPT_BLOCKS);
    const isUnknown = (error: unknown) => error instanceof ProviderFailed && error.kind === "unknown_block";
    await rejectsWith(node.balances(chain.usdc.address, OWNERS, { blockNumber: old }), isUnknown);
    await rejectsWith(node.transfers({ fromBlock: old, toBlock: old }, [chain.usdc.address]), isUnknown);
    const calls = await countRequests(proxy, () =>
      node.balances(chain.usdc.address, OWNERS, { blockNumber: head.number }),
    );
    equal(calls, 1, "one bundled call for all owners");
  });

  test("a provider without receipts of blocks is asked for single ones", async () => {
    const { node, proxy } = await open({ refusesBlockReceipts: true });
    const paid = await chain.payInOneBlock(OWNERS.map((to) => ({ token: chain.usdc.address, to, amountUnits: 5n })));
    const [{ blockHash, blockNumber } = { blockHash: "0x", blockNumber: 0n }] = paid;
    const scope = { blockHash, blockNumber };
    const expected = await node.transfers(scope, [chain.usdc.address]);
    equal(expected.length, OWNERS.length);
    deepEqual(await node.recheckTransfers(scope, [chain.usdc.address]), expected);
    const calls = await countRequests(proxy, () => node.recheckTransfers(scope, [chain.usdc.address]));
    equal(calls, 2, "the block and one batch; the refusal is remembered");
  });

  test("the bloom of another block is the proxy's", async () => {
    const { node } = await open({ hasForeignBloom: true });
    const { blockHash } = await chain.pay(chain.usdc.address, OWNERS[0] ?? "0x", { amountUnits: 1n });
    const [own, foreign] = await Promise.all([
      openEvmNode({ caip2: chain.caip2, rpcUrl: chain.rpcUrl }).block({ hash: blockHash }),
      node.block({ hash: blockHash }),
    ]);
    ok(own && foreign && own.hash === foreign.hash && own.digest !== foreign.digest);
  });
});

async function rejectsWith(work: Promise<unknown>, isExpected: (error: unknown) => boolean): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  ok(isExpected(error), String(error));
}

/** Counts the requests over HTTP that `work` makes. */
async function countRequests({ count }: NodeProxy, work: () => Promise<unknown>): Promise<number> {
  const before = count.requests;
  await work();
  return count.requests - before;
}
