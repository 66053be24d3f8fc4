import { pino } from "pino";
import { createEvmChain } from "../../../src/chain/evm/openEvmChain.ts";
import type { BlockRef, Transfer } from "../../../src/chain/reader.ts";
import type { EvmNode } from "../../../src/chain/evm/node.ts";
import { createProof } from "../../../src/chain/evm/proof.ts";
import { openGasAccount } from "../../../src/chain/evm/send/gasAccount.ts";
import { openDatabase } from "../../../src/db/database.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { createWake } from "../../../src/kernel/wake.ts";
import { getWatchedInboxes } from "../../../src/watch/inboxes/watchedInboxes.ts";
import type { WatchWorld } from "../../../src/watch/watchWorld.ts";
import { watchChain } from "../../../src/watch/follow/watchChain.ts";
import { TEST_CHAIN, TEST_TOKEN } from "../../support/intents.ts";
import { stationWorld } from "../../support/stationWorld.ts";
import { hashOf, inboxAt } from "../backfillNode.ts";
import { serveParent } from "./runInChildProcess.ts";
import { median } from "./statistics.ts";

// Watches a chain whose provider answers at once, so that only the service and the database take time.

export type GrowthJob = { url: string; inboxes: number };
export type GrowthReport = {
  /** The time to load the watched set. */
  loadMs: number;
  /** Medians: a pass that records one new block and rereads one final block, and its part for new inboxes. */
  lookMs: number;
  refreshMs: number;
};

const WARM_LOOKS = 50;
const LOOKS = 200;
const TRANSFERS = 50;
const FINAL_DEPTH = 10;

serveParent(async ({ url, inboxes }: GrowthJob): Promise<GrowthReport> => {
  const db = await openDatabase({ url, allowUnsafeFsync: true });
  const log = pino({ level: "silent" });
  const world: WatchWorld = { ...stationWorld(db), wake: createWake(systemClock), log };
  const found = await db.root.selectFrom("chain_cursor").select("number").executeTakeFirst();
  const node = { head: Number(found?.number ?? 1_000n) };
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  const chain = createEvmChain({ nodes: [openNode(node, inboxes)], gasAccount }, { clock: systemClock, log });
  await watchChain(world, chain);
  const watched = getWatchedInboxes(world, "eip155");
  const loadMs = await timeOf(() => watched.refresh(db));
  if (watched.size !== inboxes) throw new Error(`${watched.size} inboxes are watched, not ${inboxes}`);
  const [looks, refreshes]: [number[], number[]] = [[], []];
  for (let look = -WARM_LOOKS; look < LOOKS; look += 1) {
    node.head += 1;
    const lookMs = await timeOf(() => watchChain(world, chain));
    const refreshMs = await timeOf(() => watched.refresh(db));
    if (look < 0) continue;
    looks.push(lookMs);
    refreshes.push(refreshMs);
  }
  const { count } = await db.root
    .selectFrom("movement")
    .select((select) => select.fn.countAll<bigint>().as("count"))
    .where("block_number", ">", BigInt(node.head - LOOKS))
    .executeTakeFirstOrThrow();
  if (count !== BigInt(LOOKS)) throw new Error(`${count} movements were recorded, not ${LOOKS}`);
  await db.close();
  return { loadMs, lookMs: median(looks), refreshMs: median(refreshes) };
});

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** A provider of a chain with fifty transfers per block, one of which pays an inbox. */
function openNode(node: { head: number }, inboxes: number): EvmNode {
  const numbers = new Map<string, number>();
  const blockOf = (number: number): BlockRef | undefined => {
    if (number > node.head || number < 0) return undefined;
    numbers.set(hashAt(number), number);
    const parentHash = hashAt(number - 1);
    return { number: BigInt(number), hash: hashAt(number), parentHash, timestampS: 1_700_000_000 + number };
  };
  const methods: Partial<EvmNode> = {
    caip2: TEST_CHAIN,
    name: "made",
    identify: async () => ({ caip2: TEST_CHAIN, genesisHash: hashAt(0) }),
    head: async (tag) => required(blockOf(tag === "latest" ? node.head : node.head - FINAL_DEPTH)),
    block: async (at) => blockOf("hash" in at ? (numbers.get(at.hash) ?? -1) : Number(at.number)),
    transfers: async (scope) => {
      const blocks = "blockHash" in scope ? [required(numbers.get(scope.blockHash))] : numbersOf(scope);
      return blocks.flatMap((number) => transfersOf(number, inboxes));
    },
    proofs: async (chainTxs) =>
      chainTxs.map((chainTx) => {
        const number = required(numbers.get(`tx ${chainTx}`));
        return createProof({
          chainTx,
          blockNumber: BigInt(number),
          blockHash: hashAt(number),
          succeeded: true,
          logIndexFirst: TRANSFERS / 2,
          logCount: 1,
        });
      }),
  };
  const transfersAt = methods.transfers;
  methods.transfers = async (...args) => {
    const transfers = (await transfersAt?.(...args)) ?? [];
    for (const { chainTx, blockNumber } of transfers) numbers.set(`tx ${chainTx}`, Number(blockNumber));
    return transfers;
  };
  return new Proxy(methods as EvmNode, {
    get: (target, name) => {
      const isOptional = name === "filterTransfers" || name === "blocksWithProofs" || name === "then";
      if (name in target || isOptional) return Reflect.get(target, name) as unknown;
      throw new Error(`unexpected call of ${String(name)}`);
    },
  });
}

function transfersOf(block: number, inboxes: number): Transfer[] {
  return Array.from({ length: TRANSFERS }, (_, index) => ({
    token: TEST_TOKEN,
    from: hashOf(`from ${block} ${index}`).slice(0, 42),
    to: index === TRANSFERS / 2 ? inboxAt((block * 7_919) % inboxes) : hashOf(`to ${block} ${index}`).slice(0, 42),
    amountText: "1000000",
    chainTx: hashOf(`tx ${block} ${index}`),
    place: BigInt(index),
    blockNumber: BigInt(block),
    blockHash: hashAt(block),
  }));
}

function hashAt(number: number): string {
  return hashOf(`block ${number}`);
}

function numbersOf({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }): number[] {
  return Array.from({ length: Number(toBlock - fromBlock) + 1 }, (_, index) => Number(fromBlock) + index);
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("unexpected request for an unknown value");
  return value;
}
