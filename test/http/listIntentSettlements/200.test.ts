import assert from "node:assert/strict";
import { test } from "node:test";
import { displayAddress } from "../../../src/kernel/caip.ts";
import { systemEntropy } from "../../../src/kernel/entropy.ts";
import { newId } from "../../../src/kernel/ids.ts";
import { assertFault, testApi } from "../../support/api.ts";
import { TEST_CHAIN } from "../../support/intents.ts";

test("D4 the list pages through all settlements, newest first", async () => {
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
    await api.world.db.root
      .insertInto("settlement")
      .values({ ...row, reason: null, outgoing_id: null, retry_at: null })
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

test("D4 a listed settlement has every field with the value of its column, and null for missing values", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const intent = await merchant.insertIntent();
  const [createdAt, submittedAt, landedAt, updatedAt] = [1, 2, 3, 4].map((day) => new Date(Date.UTC(2026, 9, day)));
  assert.ok(createdAt && submittedAt && landedAt && updatedAt);
  const [landedId, heldId] = [newId("set", systemEntropy), newId("set", systemEntropy)];
  const common = {
    intent_id: intent.id,
    chain: TEST_CHAIN,
    token: intent.payout_token,
    created_at: createdAt,
  } as const;
  const amounts = { gross_units: 100n, fee_units: 7n, route_cost_units: 3n, net_units: 90n };
  const times = { submitted_at: submittedAt, landed_at: landedAt, updated_at: updatedAt };
  const place = { chain_tx: `0xf4${landedId}`, block_number: 41n };
  await api.world.db.root
    .insertInto("settlement")
    .values({ id: landedId, status: "landed", ...common, ...amounts, ...times, ...place, reason: "odd", attempts: 2 })
    .execute();
  await api.world.db.root
    .insertInto("settlement")
    .values({ id: heldId, status: "held", ...common, reason: "gas", updated_at: updatedAt, retry_at: landedAt })
    .execute();

  const shown = {
    object: "settlement",
    intentId: intent.id,
    caip19: `${TEST_CHAIN}/erc20:${displayAddress(TEST_CHAIN, intent.payout_token)}`,
    createdAt: createdAt.toISOString(),
  };
  const { body } = await merchant.get(`/api/v1/intents/${intent.id}/settlements`);
  assert.deepEqual(body.data, [
    {
      ...shown,
      settlementId: heldId,
      status: "held",
      grossUnits: null,
      feeUnits: null,
      routeCostUnits: null,
      netUnits: null,
      reason: "gas",
      txs: [],
      submittedAt: null,
      landedAt: null,
    },
    {
      ...shown,
      settlementId: landedId,
      status: "landed",
      grossUnits: "100",
      feeUnits: "7",
      routeCostUnits: "3",
      netUnits: "90",
      reason: "odd",
      txs: [{ txHash: place.chain_tx, chain: TEST_CHAIN, blockNumber: 41 }],
      submittedAt: submittedAt.toISOString(),
      landedAt: landedAt.toISOString(),
    },
  ]);
});
