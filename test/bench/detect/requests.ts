import { setTimeout as delay } from "node:timers/promises";
import { openEvmNode } from "../../../src/chain/evm/rpcNode.ts";
import { openNodeProxy } from "../../../src/dev/chains/nodeProxy.ts";
import { readBranch } from "../../../src/watch/follow/readBranch.ts";
import { watchChain } from "../../../src/watch/follow/watchChain.ts";
import { findCursor } from "../../../src/watch/store/store.ts";
import { openRoad } from "../../support/road.ts";
import { tabulate } from "./statistics.ts";

// Counts what a poll asks its providers on a chain with five blocks a second, where the blocks hold nothing of ours:
// requests over HTTP, and the calls in them, which is what most providers bill.

const BLOCK_SECONDS = 0.2;
const POLL_MS = 1_000;
const POLLS = 30;
const NEAR = 320n;
const DEEPEST_REORG = 5_120n;

/**
 * Per poll, on average. `wholePoll` includes finality and the second reading of final blocks. `most`: the dearest poll.
 */
export type RequestReport = { blocks: number; newBlocks: Requests; wholePoll: Requests; most: Requests };
type Requests = { requests: number; calls: number };

/** Prints and returns the requests of a poll, with one provider and with two. */
export async function benchRequests(): Promise<RequestReport[]> {
  const reports = [await measure(1), await measure(2)];
  for (const [index, report] of reports.entries()) console.log(tableOf(index + 1, report));
  return reports;
}

async function measure(providers: number): Promise<RequestReport> {
  const proxies: Awaited<ReturnType<typeof openNodeProxy>>[] = [];
  const road = await openRoad({
    database: "pglite",
    blockTimeSeconds: BLOCK_SECONDS,
    rpcUrls: async ({ rpcUrl }) => {
      while (proxies.length < providers) proxies.push(await openNodeProxy(rpcUrl, {}));
      return proxies.map(({ url }) => url);
    },
    chain: {
      estimates: { blockMs: BLOCK_SECONDS * 1_000 },
      finality: [{ upToPriceUnits: undefined, finality: { seconds: 10 } }],
    },
  });
  const [proxy] = proxies;
  const chain = road.world.chains.get(road.chain.caip2);
  if (proxy === undefined || chain === undefined) throw new Error("the road has one provider");
  const node = openEvmNode({ caip2: road.chain.caip2, rpcUrl: proxy.url });
  const total = (): Requests =>
    proxies.reduce(
      (sum, { count: each }) => ({ requests: sum.requests + each.requests, calls: sum.calls + each.calls }),
      { requests: 0, calls: 0 },
    );
  const count = async (work: () => Promise<unknown>): Promise<Requests> => {
    const before = total();
    await work();
    const after = total();
    return { requests: after.requests - before.requests, calls: after.calls - before.calls };
  };
  try {
    await watchChain(road.world, chain);
    const polls: { blocks: number; newBlocks: Requests; wholePoll: Requests }[] = [];
    for (let poll = 0; poll < POLLS; poll += 1) {
      await delay(POLL_MS);
      const cursor = await findCursor(road.world.db, chain.caip2);
      if (cursor === undefined) throw new Error("the chain has a cursor");
      const newBlocks = await count(() =>
        readBranch(node, {
          chain: chain.caip2,
          detection: "blocks",
          cursor,
          tokens: [road.chain.usdc.address],
          near: NEAR,
          deepestReorg: DEEPEST_REORG,
          knownBlocks: async () => [cursor],
          locate: async () => [],
        }),
      );
      let advancedTo = cursor.number;
      const wholePoll = await count(async () => {
        ({ advancedTo } = await watchChain(road.world, chain));
      });
      polls.push({ blocks: Number(advancedTo - cursor.number), newBlocks, wholePoll });
    }
    const mean = (valueOf: (poll: (typeof polls)[number]) => number) =>
      polls.reduce((sum, poll) => sum + valueOf(poll), 0) / polls.length;
    return {
      blocks: mean(({ blocks }) => blocks),
      newBlocks: { requests: mean((p) => p.newBlocks.requests), calls: mean((p) => p.newBlocks.calls) },
      wholePoll: { requests: mean((p) => p.wholePoll.requests), calls: mean((p) => p.wholePoll.calls) },
      most: {
        requests: Math.max(...polls.map((p) => p.wholePoll.requests)),
        calls: Math.max(...polls.map((p) => p.wholePoll.calls)),
      },
    };
  } finally {
    await node.close();
    await road.close();
    for (const each of proxies) await each.close();
  }
}

function tableOf(providers: number, { blocks, newBlocks, wholePoll, most }: RequestReport): string {
  const row = (what: string, { requests, calls }: Requests) => [what, requests.toFixed(1), calls.toFixed(1)];
  return tabulate([
    [
      `a poll of ${blocks.toFixed(1)} new blocks of 200 ms, without ours, providers: ${providers}`,
      "requests",
      "calls in them",
    ],
    row("new blocks", newBlocks),
    row("with finality and the second reading", wholePoll),
    row("of them, the dearest poll", most),
  ]);
}

if (import.meta.main) await benchRequests();
