import assert from "node:assert/strict";
import { test } from "node:test";
import { processMovements } from "../../../src/deposit/processMovements.ts";
import { displayAddress } from "../../../src/kernel/caip.ts";
import { systemEntropy } from "../../../src/kernel/entropy.ts";
import { newId } from "../../../src/kernel/ids.ts";
import { testApi, USDC } from "../../support/api.ts";
import { randomAddress, TEST_CHAIN } from "../../support/intents.ts";
import { recordMovements, setHead } from "../../support/movements.ts";
import { countMoney } from "../../support/countMoney.ts";

test("D4 the list pages through all deposits, newest first, with their counted units", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const intent = await merchant.insertIntent();
  const url = `/api/v1/intents/${intent.id}/deposits`;
  assert.deepEqual((await merchant.get(url)).body, { object: "list", data: [], has_more: false, next_cursor: "" });

  await setHead(api.world.db, TEST_CHAIN, { number: 11n });
  const chainTxs = ["0xd1", "0xd2", "0xd3"].map((tx) => `${tx}${intent.id}`);
  const movements = chainTxs.map((chainTx, index) => ({
    chainTx,
    amountUnits: BigInt(index + 1),
    block: BigInt(9 + index),
  }));
  await recordMovements(api.world.db, intent, movements);
  await processMovements(api.world, TEST_CHAIN);
  await countMoney(api.world, TEST_CHAIN);

  const { body: first } = await merchant.get(`${url}?limit=2`);
  const { body: second } = await merchant.get(`${url}?limit=2&cursor=${first.next_cursor}`);
  const deposits = [...first.data, ...second.data];
  assert.deepEqual(
    deposits.map((deposit) => deposit.txHash),
    chainTxs.toReversed(),
  );
  assert.deepEqual(
    deposits.map((deposit) => deposit.status),
    ["seen", "counted", "counted"],
  );
  assert.deepEqual(
    deposits.map((deposit) => deposit.countedUnits),
    ["0", "2", "1"],
  );
  assert.deepEqual(
    deposits.map((deposit) => deposit.confirmations),
    [1, 2, 3],
  );
  assert.deepEqual([first.has_more, second.has_more, second.next_cursor], [true, false, ""]);
  assert.equal(deposits[0].token.symbol, "USDC");
});

test("D4, D3 a listed deposit has every field with the value of its column", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const intent = await merchant.insertIntent();
  const [from, chainTx] = [randomAddress(), `0xd4${intent.id}`];
  await setHead(api.world.db, TEST_CHAIN, { number: 49n });
  const movement = {
    chainTx,
    position: 3,
    place: 71,
    counterparty: from,
    amountUnits: 1_234n,
    block: 41n,
    fork: "b",
  };
  await recordMovements(api.world.db, intent, [movement]);
  await processMovements(api.world, TEST_CHAIN);
  const settlementId = newId("set", systemEntropy);
  const [seenAt, confirmedAt, countedAt, updatedAt] = [1, 2, 3, 4].map((day) => new Date(Date.UTC(2026, 9, day)));
  assert.ok(seenAt && confirmedAt && countedAt && updatedAt);
  const settlement = { id: settlementId, intent_id: intent.id, chain: TEST_CHAIN, token: USDC } as const;
  await api.world.db.root
    .insertInto("settlement")
    .values({ ...settlement, status: "planned", created_at: updatedAt, updated_at: updatedAt })
    .execute();
  // Every number in the row is distinct.
  const { id: depositId } = await api.world.db.root
    .updateTable("deposit")
    .set({ status: "counted", counted_units: 567n, late: true, reason: "odd", required_confirmations: 6 })
    .set({ settlement_id: settlementId, seen_at: seenAt, confirmed_at: confirmedAt })
    .set({ counted_at: countedAt, updated_at: updatedAt })
    .where("chain_tx", "=", chainTx)
    .returning("id")
    .executeTakeFirstOrThrow();

  const address = displayAddress(TEST_CHAIN, USDC);
  const { body } = await merchant.get(`/api/v1/intents/${intent.id}/deposits`);
  assert.deepEqual(body.data, [
    {
      object: "deposit",
      depositId,
      intentId: intent.id,
      status: "counted",
      amountUnits: "1234",
      countedUnits: "567",
      token: { symbol: "USDC", address, decimals: 6 },
      caip19: `${TEST_CHAIN}/erc20:${address}`,
      from: displayAddress(TEST_CHAIN, from),
      txHash: chainTx,
      position: 3,
      blockNumber: 41,
      blockHash: "0x41b",
      confirmations: 9,
      requiredConfirmations: 6,
      requiredSeconds: null,
      late: true,
      reason: "odd",
      settlementId,
      seenAt: seenAt.toISOString(),
      countedAt: countedAt.toISOString(),
    },
  ]);
});
