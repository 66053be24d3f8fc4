import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { openRoad, type Road } from "../support/road.ts";

const { payoutFirst, feeRecipient } = DEV_ACCOUNTS;

/** Inboxes of one batch. The deep tests add large batches. */
const BATCH_SIZES = (process.env["BATCH_SIZES"] ?? "1,2,10").split(",").map(Number);
const UNITS = 10_001n;

describe("a fee wallet on the token's blocklist", () => {
  let road: Road;
  before(async () => {
    road = await openRoad();
    await road.chain.blocklist(road.chain.usdc.address, feeRecipient.address);
  });
  after(() => road.close());

  async function payAndSettle(intents: readonly IntentRow[]): Promise<void> {
    const token = road.chain.usdc.address;
    const transfers = intents.map(({ inbox_address: to }) => ({ token, to: to as Hex, amountUnits: UNITS }));
    await road.chain.payInOneBlock(transfers);
    const before = await road.balance(payoutFirst.address);
    const sent = await countOutgoing();
    await road.settle();
    assert.equal((await road.balance(payoutFirst.address)) - before, UNITS * BigInt(intents.length));
    assert.equal((await countOutgoing()) - sent, 1, "one transaction settles the whole batch");
    for (const intent of intents) {
      const [settlement, ...others] = (await road.settlements(intent)).toReversed();
      assert.deepEqual([settlement?.status, settlement?.attempts, settlement?.fee_units], ["landed", 0, 0n]);
      assert.ok(others.every(({ status }) => status === "landed"));
    }
  }

  async function countOutgoing(): Promise<number> {
    return (await road.world.db.root.selectFrom("outgoing_transaction").select("id").execute()).length;
  }

  for (const size of BATCH_SIZES) {
    test(`a batch of ${size} pays everything to the merchant with its first and its next settlement`, async () => {
      const intents: IntentRow[] = [];
      for (let index = 0; index < size; index += 1) intents.push(await road.create());
      await payAndSettle(intents);
      await payAndSettle(intents);
    });
  }
});
