import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a disabled endpoint is enabled first", async () => {
  const { merchant, url } = await openWebhookMerchant();
  await merchant.sendBody("PATCH", url, { body: { status: "disabled" } });
  const body = {};
  assertFault(await merchant.post(`${url}/test`, body), 409, "webhook_endpoint_disabled");
});
