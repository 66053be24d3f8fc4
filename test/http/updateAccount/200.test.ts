import assert from "node:assert/strict";
import { test } from "node:test";
import { openCheckout } from "../../support/checkout.ts";
import { testApi } from "../../support/api.ts";

const URL = "/api/v1/account";
const SVG = '<svg viewBox="0 0 1 1" onload="alert(1)"><script>x</script><path d="M0 0h1v1z"/></svg>';
const CLEAN = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>';
const dataUrl = (svg: string) => `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;

test("D45 a merchant sets the looks and the support address, field by field", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const patch = (body: object) => merchant.sendBody("PATCH", URL, { body });
  const first = await patch({
    brand: { accent: "#ABC", radius: 12, font: "Inter, serif" },
    support: "help@shop.example",
  });
  assert.equal(first.status, 200);
  const brand = { accent: "#aabbcc", accentDark: null, radius: 12, font: '"Inter", serif', logo: null };
  assert.deepEqual([first.body.brand, first.body.support], [brand, "mailto:help@shop.example"]);
  const second = await patch({ brand: { radius: null, logo: dataUrl(SVG) } });
  assert.deepEqual(second.body.brand, { ...brand, radius: null, logo: dataUrl(CLEAN) });
  assert.deepEqual((await merchant.get(URL)).body, second.body);
  const asText = await patch({ brand: { logo: `data:image/svg+xml,${encodeURIComponent(CLEAN)}` }, support: null });
  assert.deepEqual([asText.body.brand.logo, asText.body.support], [dataUrl(CLEAN), null]);
  assert.deepEqual((await patch({})).body, asText.body);
  assert.deepEqual((await patch({ brand: {} })).body, asText.body);
});

test("D45 the page shows what a key has set, and the looks of another account stay", async () => {
  const api = await testApi();
  const [merchant, other] = [await api.openMerchant(), await api.openMerchant()];
  const support = "https://shop.example/help";
  await merchant.sendBody("PATCH", URL, { body: { brand: { accent: "#7a1f3d", logo: dataUrl(SVG) }, support } });
  const created = await merchant.createIntent();
  const { get } = await openCheckout(api, created);
  assert.equal((await get("state")).body.merchant.support, support);
  assert.match((await api.send(`/c/${created.intentId}`)).text, /--tr-accent:#7a1f3d/);
  assert.equal((await api.send(`/c/${created.intentId}/logo`)).text, CLEAN);
  assert.equal((await other.get(URL)).body.brand.accent, null);
});
