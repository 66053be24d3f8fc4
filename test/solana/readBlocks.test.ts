import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { BlockRef } from "../../src/chain/reader.ts";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { findBlockBefore } from "../../src/watch/follow/initializeCursor.ts";
import { startSolanaProxy, type SolanaProxy } from "../support/solanaProxy.ts";
import { ReaderScene, shorten, USDC } from "../support/solanaInboxes.ts";

const isUnknown = (error: unknown) => error instanceof ProviderFailed && error.kind === "unknown_block";
const isContradictory = (error: unknown) => error instanceof ProviderFailed && error.kind === "contradictory";

async function withScene(
  run: (scene: ReaderScene, proxy: SolanaProxy) => Promise<void>,
  options: { hasLongTermStorage?: boolean; blocksMax?: number } = {},
): Promise<void> {
  let proxy: SolanaProxy | undefined;
  const scene = await ReaderScene.open(options, async (url) => {
    proxy = await startSolanaProxy(url);
    return proxy.url;
  });
  try {
    if (proxy) await run(scene, proxy);
  } finally {
    await scene.close();
    proxy?.close();
  }
}

/** The blocks from one to the head, each read by its number. */
async function readChain({ reader }: ReaderScene, from: bigint): Promise<BlockRef[]> {
  const head = await reader.head("latest");
  const blocks: BlockRef[] = [];
  for (let number = from; number <= head.number; number += 1n) {
    const block = await reader.block({ number });
    ok(block, `block ${number}`);
    blocks.push(block);
  }
  deepEqual(blocks.at(-1), head);
  return blocks;
}

function assertLinked(blocks: readonly BlockRef[]): void {
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1];
    if (!parent) continue;
    deepEqual([block.parentHash, block.number], [parent.hash, parent.number + 1n]);
    ok((block.timestampS ?? -1) >= (parent.timestampS ?? 0));
  }
}

describe("blocks of a Solana chain", () => {
  test("the chain is named by its genesis block", () =>
    withScene(async ({ reader, solana }) => {
      deepEqual(await reader.identify(), { caip2: `solana:${solana.reference}`, genesisHash: solana.genesisHash });
      equal(reader.caip2, `solana:${solana.reference}`);
    }));

  test("a chain can start below an address that was issued before any block that its node has", () =>
    withScene(async ({ reader, solana }) => {
      solana.control.nextSlot(20);
      equal(await reader.block({ number: 0n }), undefined);
      const head = await reader.head("latest");
      const start = await findBlockBefore(reader, head, new Date(0));
      ok(start.number > 0n && start.number < head.number);
      deepEqual(await reader.block({ number: start.number }), start);
      equal(await reader.block({ number: start.number - 1n }), undefined, "it is the lowest block");
    }));

  for (const hasLongTermStorage of [false, true])
    test(`every slot is a block and the parent of the next, skipped ones too (${hasLongTermStorage ? "long-term storage" : "a node"})`, () =>
      withScene(
        async (scene) => {
          const { control } = scene.solana;
          const from = scene.startBlock();
          control.nextSlot(2);
          control.skip(1);
          control.nextSlot();
          control.skip(4);
          control.nextSlot(3);
          const blocks = await readChain(scene, from);
          assertLinked(blocks);
          const skipped = blocks.filter(({ hash }) => hash.includes("~"));
          equal(skipped.length, 5);
          for (const { hash, number } of skipped) {
            ok(hash.endsWith(`~${number}`));
            deepEqual(await scene.reader.transfers({ blockHash: hash, blockNumber: number }, [USDC]), []);
            await rejects(
              scene.reader.transfers({ blockHash: `${USDC}~${number}`, blockNumber: number }, [USDC]),
              isUnknown,
            );
          }
          for (const block of blocks) deepEqual(await scene.reader.block({ hash: block.hash }), block);
        },
        { hasLongTermStorage },
      ));

  test("a slot without a confirmed successor is unknown, as are blocks above the head and dropped ones", () =>
    withScene(
      async (scene) => {
        const { control } = scene.solana;
        control.nextSlot(3);
        const head = await scene.reader.head("latest");
        equal((await scene.reader.head("safe")).number, head.number);
        control.skip(2);
        equal(await scene.reader.block({ number: head.number + 2n }), undefined);
        equal(await scene.reader.block({ number: BigInt(control.slot) + 5n }), undefined);
        equal(await scene.reader.block({ hash: scene.solana.genesisHash }), undefined);
        equal(await scene.reader.block({ hash: "no hash" }), undefined);
        control.nextSlot(1_500);
        equal(await scene.reader.block({ number: head.number }), undefined, "the node keeps fewer blocks");
      },
      { blocksMax: 100 },
    ));

  test("the final head lies behind the confirmed one", () =>
    withScene(async ({ reader, solana }) => {
      solana.control.nextSlot(40);
      const [safe, final] = [await reader.head("safe"), await reader.head("finalized")];
      ok(final.number < safe.number);
      deepEqual(await reader.block({ number: final.number }), final);
    }));

  test("a fork of confirmed slots replaces blocks, and takes their transactions along", () =>
    withScene(async (scene) => {
      const { reader, solana } = scene;
      const [gone, kept] = [scene.inboxes.create(), scene.inboxes.create()];
      solana.control.nextSlot(4);
      const from = scene.startBlock();
      const lost = scene.pay(gone, 5n);
      const stays = scene.pay(kept, 6n);
      deepEqual(shorten(await scene.list(gone)).length, 1);
      const old = await readChain(scene, from);
      solana.control.nextSlot();
      deepEqual(solana.control.fork(3, { keep: [stays] }), [lost]);
      solana.control.nextSlot(3);
      const now = await readChain(scene, from);
      assertLinked(now);
      const [before, after] = [old[0], now[0]];
      ok(before && after && before.hash !== after.hash);
      equal(before.parentHash, after.parentHash);
      deepEqual(await reader.proofs([lost]), []);
      deepEqual(await scene.list(gone), []);
      equal(await scene.unitsOf(gone), 0n);
      await rejects(
        reader.transfers({ blockHash: before.hash, blockNumber: before.number }, [USDC], [gone.address]),
        isUnknown,
      );
      const [moved] = await scene.list(kept);
      const [proof] = await reader.proofs([stays]);
      deepEqual([proof?.blockHash, proof?.identityAt(moved?.place ?? -1n)], [moved?.blockHash, kept.tokenAccount]);
    }));

  test("the head is the last block that the provider has, when its slot comes first", () =>
    withScene(async (scene, proxy) => {
      scene.solana.control.nextSlot(5);
      const expected = await scene.reader.head("latest");
      scene.solana.control.nextSlot();
      proxy.fault = async ({ method, params }, forward) => {
        const isNewest = method === "getBlock" && params[0] === Number(expected.number) + 1;
        if (isNewest) return { error: { code: -32_004, message: "Block not available for slot" } };
        const answer = await forward();
        return method === "getBlocks" ? { result: (answer.result as number[]).slice(0, -1) } : answer;
      };
      deepEqual(await scene.reader.head("latest"), expected);
    }));

  test("a refused rate is no skipped slot, although providers give both the same code", () =>
    withScene(async (scene, proxy) => {
      scene.solana.control.nextSlot(6);
      const { number } = await scene.reader.head("latest");
      const message =
        "50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com";
      proxy.fault = async ({ method }, forward) =>
        method === "getBlock" ? { error: { code: -32_007, message } } : forward();
      await rejects(
        scene.reader.block({ number: number - 2n }),
        (error) => error instanceof ProviderFailed && error.kind === "rate_limited",
      );
    }));

  test("a provider that hides a block behind a skipped slot is contradicted by the next block", () =>
    withScene(async (scene, proxy) => {
      scene.solana.control.nextSlot(6);
      const { number } = await scene.reader.head("latest");
      const hidden = number - 2n;
      const skip = { error: { code: -32_007, message: "Slot was skipped" } };
      proxy.fault = async ({ method, params }, forward) =>
        method === "getBlock" && params[0] === Number(hidden) ? skip : forward();
      await rejects(scene.reader.block({ number: hidden }), isContradictory);
      proxy.fault = async ({ method, params }, forward) => {
        if (method === "getBlock" && params[0] === Number(hidden)) return skip;
        const answer = await forward();
        if (method !== "getBlocksWithLimit") return answer;
        return { result: [Number(hidden) + 1] };
      };
      equal(await scene.reader.block({ number: hidden }), undefined, "the next block follows it");
    }));
});
