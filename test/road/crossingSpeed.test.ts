import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";

const UNITS = 20_000_000n;
const BLOCK_MS = 2_000;
const BLOCKS_MAX = 2;
const ROUNDS_MAX = 10;
/** Half an hour, within twice the finality of the chains of a bridged road. */
const LATE_MS = 1_700_000;

describe("from a complete attestation to the landing", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair());
  });
  after(() => road.close());

  const isBurned = async (intent: IntentRow) =>
    (await road.db.root.selectFrom("crossing").select("status").where("intent_id", "=", intent.id).execute()).length >
    0;

  for (const { what, ageMs } of [
    { what: "seconds after the burn", ageMs: 0 },
    { what: "when the burn's block becomes final", ageMs: LATE_MS },
  ])
    test(`${what}, it takes at most two blocks of the settle chain, at any moment of a block`, async () => {
      for (const isJustAfterAsking of [true, false]) {
        road.attestation.settings.delayReason = "pending";
        const intent = await road.create(home);
        await road.pay(away, intent, UNITS);
        await road.until(() => isBurned(intent));
        road.advance(ageMs);
        await road.tick();
        await home.client.setAutomine(false);
        try {
          /** A block's time: all loops look once, before or after the proof comes. */
          const nextBlock = async () => {
            await road.tick();
            await home.mine(1);
            road.advance(BLOCK_MS);
          };
          await nextBlock();
          if (isJustAfterAsking) await road.tick();
          const completeAt = await home.client.getBlockNumber({ cacheTime: 0 });
          road.attestation.settings.delayReason = DEFAULT_SETTINGS.delayReason;
          if (isJustAfterAsking) {
            await home.mine(1);
            road.advance(BLOCK_MS);
          }
          const landed = async () => (await road.settlements(intent)).find(({ status }) => status === "landed");
          for (let round = 0; round < ROUNDS_MAX && (await landed()) === undefined; round += 1) await nextBlock();
          const blocks = Number((await landed())?.landed_block_number ?? -1n) - Number(completeAt);
          assert.ok(blocks >= 1 && blocks <= BLOCKS_MAX, `landed ${blocks} blocks later`);
        } finally {
          await home.client.setAutomine(true);
        }
      }
    });
});
