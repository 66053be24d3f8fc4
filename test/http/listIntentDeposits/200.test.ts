import assert from "node:assert/strict";
import { test } from "node:test";
import { countDeposits } from "../../../src/deposit/countDeposits.ts";
import { takeMovements } from "../../../src/deposit/takeMovements.ts";
import { testApi } from "../../support/api.ts";
import { TEST_CHAIN } from "../../support/intents.ts";
import { recordMovements, setHead } from "../../support/movements.ts";

test("D4 every deposit is listed, newest first and a page at a time, with what it counted for", async () => {
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
  await takeMovements(api.world, TEST_CHAIN);
  await countDeposits(api.world, TEST_CHAIN);

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
