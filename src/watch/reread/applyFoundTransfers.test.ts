import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import type { BlockRef, Transfer } from "../../chain/reader.ts";
import { createProof } from "../../chain/evm/proof.ts";
import type { Db } from "../../db/database.ts";
import { addMs, systemClock } from "../../kernel/clock.ts";
import { HINT_TTL_MS } from "../../view/registerView.ts";
import { upsertViewHints } from "../../view/store.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { insertIntent } from "../../../test/support/intents.ts";
import { setUpWatchTests, startWatcher, movementsOf } from "../../../test/support/watcher.ts";
import { recheckSuspectBlocks, recheckQueue } from "./recheckSuspectBlocks.ts";
import { searchTransfers, twoProviders } from "../search/searchTransfers.ts";
import { scanHintedInboxes } from "./scanHintedInboxes.ts";

// A deposit from one provider counts only when others confirm it. A movement out would make its settlement look landed
// at once.
describe("transfers added by one of several providers", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened));

  const FABRICATED_TX = `0x${"ab".repeat(32)}`;

  /** Two providers; the one that answers second reads reports a transfer that never happened. */
  async function setUp({ times = 1, ...invents }: { from: string; to: string; times?: number }) {
    const fabricated: { at?: BlockRef } = {};
    const fabricatedTransfers = ({ at } = fabricated): Transfer[] =>
      at === undefined
        ? []
        : Array.from({ length: times }, () => ({
            ...invents,
            token: usdc,
            amountText: "0x5",
            chainTx: FABRICATED_TX,
            place: 0n,
            blockNumber: at.number,
            blockHash: at.hash,
          }));
    const watching = await startWatcher(
      db,
      chain,
      () => ({ name: "honest", mayContainTransfers: () => true }),
      (reader) => ({
        name: "liar",
        transfers: async (scope, tokens, parties) =>
          parties || ("blockHash" in scope && scope.blockHash === fabricated.at?.hash)
            ? fabricatedTransfers()
            : reader.transfers(scope, tokens, parties),
        proofs: async () =>
          fabricated.at
            ? [
                createProof({
                  chainTx: FABRICATED_TX,
                  blockNumber: fabricated.at.number,
                  blockHash: fabricated.at.hash,
                  succeeded: true,
                  logIndexFirst: 0,
                  logCount: 1,
                }),
              ]
            : [],
      }),
    );
    await chain.mine(1);
    fabricated.at = await watching.chain.providers.head("latest");
    return watching;
  }

  const directions = async () => (await movementsOf(db, chain)).map((row) => row.direction);

  test("a recheck of an empty block records movements in and not out", async () => {
    const { inbox_address: inbox } = await insertIntent(db);
    for (const [from, to, recorded] of [
      [inbox, `0x${"cd".repeat(20)}`, []],
      [`0x${"cd".repeat(20)}`, inbox, ["in"]],
    ] as const) {
      const { world, chain: watched, watch } = await setUp({ from, to });
      await watch();
      let passedMs = 0;
      const clock = { ...world.clock, monotonicMs: () => (passedMs += 10_000) };
      for (const doubt of recheckQueue(world, watched).suspectBlocks.values()) doubt.dueAtMs = 0;
      await recheckSuspectBlocks({ ...world, clock }, watched);
      deepEqual(await directions(), recorded);
    }
  });

  test("a provider that shows a transfer out twice is one provider", async () => {
    const { inbox_address: inbox } = await insertIntent(db);
    const invented = { from: inbox, to: `0x${"cd".repeat(20)}`, times: 2 };
    const { world, chain: watched, watch } = await setUp(invented);
    const { advancedTo } = await watch();
    const { recorded, readCount } = await searchTransfers(world, watched, {
      read: (reader) => reader.transfers({ fromBlock: advancedTo, toBlock: advancedTo }, [usdc], [inbox]),
      from: "each",
      required: { in: 1, out: twoProviders(watched) },
    });
    deepEqual([readCount, recorded], [2, []]);
    deepEqual(await directions(), []);
  });

  test("a hinted scan records nothing out of another inbox", async () => {
    const [victim, own] = [await insertIntent(db), await insertIntent(db)];
    const { world, chain: watched, watch } = await setUp({ from: victim.inbox_address, to: own.inbox_address });
    await watch();
    const hint = { namespace: "eip155", reference: String(chain.chainId), token: usdc };
    await upsertViewHints(db, [{ ...hint, intentId: own.id, expiresAt: addMs(systemClock.now(), HINT_TTL_MS) }]);
    await scanHintedInboxes(world, watched);
    deepEqual(await directions(), ["in"]);
  });
});
