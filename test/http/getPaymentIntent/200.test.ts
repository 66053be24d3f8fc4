import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi } from "../../support/api.ts";

test("§4.3.1 a read returns what the create returned, without the token and not as new", async () => {
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

test("D13 metadata comes back with its keys in the order in which they were sent", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent({ metadata: { z: 1, a: { y: [1.5, null, true], b: "é" } } });
  const { text } = await merchant.get(`/api/v1/intents/${intentId}`);
  assert.ok(text.includes('"metadata":{"z":1,"a":{"y":[1.5,null,true],"b":"é"}}'), text);
});

test("D2 the payment status and the amounts follow what has been counted", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { id } = await merchant.insertIntent({
    one_time: true,
    price_token_units: 100n,
    received_units: 130n,
    counted_units: 120n,
  });
  const { body } = await merchant.get(`/api/v1/intents/${id}`);
  assert.equal(body.paymentStatus, "overpaid");
  const { priceUnits, receivedUnits, countedUnits, shortfallUnits, excessUnits } = body.amounts;
  assert.deepEqual(
    [priceUnits, receivedUnits, countedUnits, shortfallUnits, excessUnits],
    ["100", "130", "120", "0", "20"],
  );
});
