import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { settlementRecord } from "../../src/settlement/settlementRecord.ts";
import { openSolanaCrossing, type SolanaCrossingRoad } from "../support/solanaCrossing.ts";

const USDC = 1_000_000n;

describe("paying on Solana and settling on an EVM chain", () => {
  let road: SolanaCrossingRoad;
  before(async () => {
    road = await openSolanaCrossing();
  });
  after(() => road.close());

  test("1,000 USDC by a fast crossing pay 994.870650 to the merchant, 4.999350 to the platform and 0.130000 to the bridge", async () => {
    const intent = await road.create({ priceUnits: 1_000_000_000, oneTime: true });
    const inbox = await road.issue(intent);
    const before = await road.balances(intent);
    const paid = road.pay(inbox, 1_000n * USDC);
    await road.untilLanded(intent);
    const balances = await road.balances(intent);
    assert.deepEqual(
      [balances.payout - before.payout, balances.fee - before.fee, balances.inbox, road.unitsOf(inbox.address)],
      [994_870_650n, 4_999_350n, 0n, 0n],
    );
    const [settlement] = (await road.settlements(intent)).map(settlementRecord);
    assert.deepEqual(
      settlement?.txs.map(({ chain }) => chain),
      [`solana:${road.solana.reference}`, road.home.caip2],
    );
    assert.ok(settlement?.txs.every(({ txHash }) => txHash !== paid));
    const { status, counted_units: counted } = await road.intent(intent);
    assert.deepEqual([status, counted], ["settled", 1_000n * USDC]);
  });
});
