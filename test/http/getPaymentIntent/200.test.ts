import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi } from "../../support/api.ts";

test("§4.3.1 a read returns the created record without the token and with created false", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { widgetToken, ...created } = await merchant.createIntent({
    priceUnits: 7,
    oneTime: true,
    metadata: { z: 1, a: "<&>" },
  });
  const { status, body, text } = await merchant.get(`/api/v1/intents/${created.intentId}`);
  assert.equal(status, 200);
  assert.deepEqual(body, { ...created, created: false });
  assert.ok(!text.includes(widgetToken) && !text.includes("widgetToken"));
});

test("D13 metadata keeps the key order of the request", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent({ metadata: { z: 1, a: { y: [1.5, null, true], b: "é" } } });
  const { text } = await merchant.get(`/api/v1/intents/${intentId}`);
  assert.ok(text.includes('"metadata":{"z":1,"a":{"y":[1.5,null,true],"b":"é"}}'), text);
});

test("D2 payment status and amounts follow the counted deposits", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { id } = await merchant.insertIntent({
    one_time: true,
    price_token_units: 100n,
    received_units: 130n,
    counted_units: 120n,
    settled_units: 110n,
    fee_units: 7n,
    net_units: 101n,
  });
  const { body } = await merchant.get(`/api/v1/intents/${id}`);
  assert.equal(body.paymentStatus, "overpaid");
  assert.deepEqual(body.amounts, {
    priceUnits: "100",
    receivedUnits: "130",
    countedUnits: "120",
    remainingUnits: "0",
    shortfallUnits: "0",
    excessUnits: "20",
    settledUnits: "110",
    feeUnits: "7",
    netUnits: "101",
  });
});
