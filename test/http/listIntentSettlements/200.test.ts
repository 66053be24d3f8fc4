import assert from "node:assert/strict";
import { test } from "node:test";
import { systemEntropy } from "../../../src/kernel/entropy.ts";
import { newId } from "../../../src/kernel/ids.ts";
import { assertFault, testApi } from "../../support/api.ts";
import { TEST_CHAIN } from "../../support/intents.ts";

test("D4 every settlement is listed, newest first and a page at a time", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const intent = await merchant.insertIntent();
  const at = api.world.clock.now();
  const ids: string[] = [];
  for (const chainTx of ["0xf1", "0xf2"]) {
    const id = newId("set", systemEntropy);
    ids.unshift(id);
    const amounts = { gross_units: 100n, fee_units: 1n, route_cost_units: 0n, net_units: 99n };
    const place = {
      chain: TEST_CHAIN,
      token: intent.payout_token,
      chain_tx: `${chainTx}${id}`,
      block_number: 7n,
    } as const;
    const times = { created_at: at, submitted_at: at, landed_at: at, updated_at: at };
    const row = { id, intent_id: intent.id, status: "landed" as const, ...amounts, ...place, ...times };
    await api.world.db.read
      .insertInto("settlement")
      .values({ ...row, reason: null, sending_id: null, retry_at: null })
      .execute();
  }
  const url = `/api/v1/intents/${intent.id}/settlements`;
  const { body: first } = await merchant.get(`${url}?limit=1`);
  const { body: second } = await merchant.get(`${url}?limit=1&cursor=${first.next_cursor}`);
  assert.deepEqual([first.data[0].settlementId, second.data[0].settlementId], ids);
  const { status, grossUnits, feeUnits, netUnits, txs } = first.data[0];
  assert.deepEqual([status, grossUnits, feeUnits, netUnits, txs.length], ["landed", "100", "1", "99", 1]);
  assert.deepEqual([first.has_more, second.has_more], [true, false]);

  const deposits = await merchant.get(`/api/v1/intents/${intent.id}/deposits?cursor=${first.next_cursor}`);
  assertFault(deposits, 400, "invalid_cursor");
});
