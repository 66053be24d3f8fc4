import assert from "node:assert/strict";
import { test } from "node:test";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a PATCH changes the given fields alone", async () => {
  const { merchant, endpoint, url } = await openWebhookMerchant();
  const { secret: _, ...shown } = endpoint;
  const patch = async (body: object) => (await merchant.sendBody("PATCH", url, { body })).body;
  assert.deepEqual(await patch({}), shown);
  const moved = { url: "https://shop.example/other", types: ["settlement.landed"], description: "money" };
  assert.deepEqual(await patch(moved), { ...shown, ...moved });
  assert.deepEqual(await patch({ status: "disabled" }), {
    ...shown,
    ...moved,
    status: "disabled",
    disabledReason: "requested",
  });
  assert.deepEqual(await patch({ status: "enabled" }), { ...shown, ...moved });
  assert.deepEqual((await merchant.get(url)).body, { ...shown, ...moved });
});
