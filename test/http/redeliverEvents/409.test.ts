import { test } from "node:test";
import { assertFault } from "../../support/api.ts";
import { openWebhookMerchant } from "../../support/webhookApi.ts";

test("D35 a disabled endpoint is enabled first", async () => {
  const { merchant, url } = await openWebhookMerchant();
  await merchant.sendBody("PATCH", url, { body: { status: "disabled" } });
  const body = { fromSequence: 1, toSequence: 1 };
  assertFault(await merchant.post(`${url}/redeliver`, body), 409, "webhook_endpoint_disabled");
});
