import assert from "node:assert/strict";
import { test } from "node:test";
import { testApi } from "../../support/api.ts";

const URL = "/api/v1/page-origins";

test("D45 the list becomes exactly what is sent, in the form that browsers send", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const put = (origins: string[]) => merchant.sendBody("PUT", URL, { body: { origins } });
  const typed = [
    "HTTPS://Shop.Example:443/",
    "https://shop.example",
    "http://localhost:4000",
    "https://bücher.example",
  ];
  const stored = { origins: ["http://localhost:4000", "https://shop.example", "https://xn--bcher-kva.example"] };
  const first = await put(typed);
  assert.deepEqual([first.status, first.body], [200, stored]);
  assert.deepEqual((await put(typed)).body, stored);
  const second = { origins: ["https://new.example", "https://shop.example"] };
  assert.deepEqual((await put(second.origins)).body, second);
  assert.deepEqual((await merchant.get(URL)).body, second);
  assert.deepEqual((await put([])).body, { origins: [] });
  assert.deepEqual((await merchant.get(URL)).body, { origins: [] });
});

test("D19, D45 a page may embed the checkout as soon as its merchant has listed it, and no longer than that", async () => {
  const api = await testApi();
  const [merchant, other] = [await api.openMerchant(), await api.openMerchant()];
  const { intentId } = await merchant.createIntent();
  const origin = "https://shop.example";
  const mount = async () => {
    const headers = { origin, "content-type": "text/plain" };
    const { status } = await api.send(`/c/${intentId}/session`, { method: "POST", headers });
    const policy = String((await api.send(`/c/${intentId}`)).headers["content-security-policy"]);
    return [status, policy.includes(`frame-ancestors ${origin}`)];
  };
  assert.deepEqual(await mount(), [401, false]);
  await other.sendBody("PUT", URL, { body: { origins: [origin] } });
  assert.deepEqual(await mount(), [401, false]);
  await merchant.sendBody("PUT", URL, { body: { origins: [origin] } });
  assert.deepEqual(await mount(), [200, true]);
  await merchant.sendBody("PUT", URL, { body: { origins: [] } });
  assert.deepEqual(await mount(), [401, false]);
});
