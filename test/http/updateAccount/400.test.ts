import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi } from "../../support/api.ts";

const png = (base64: string) => `data:image/png;base64,${base64}`;

/** A body, and the field that the refusal names. */
const REFUSED: [body: unknown, param: string | undefined, message: RegExp][] = [
  [{ brand: { accent: "red" } }, "brand.accent", /brand\.accent must be a colour such as #0f5470/],
  [{ brand: { accentDark: "#12" } }, "brand.accentDark", /colour/],
  [{ brand: { radius: 25 } }, "brand.radius", /from 0 to 24/],
  [{ brand: { radius: "8px" } }, "brand.radius", /whole number/],
  [{ brand: { font: "a;b" } }, "brand.font", /brand\.font must be up to 6 font names/],
  [{ brand: { logo: "https://shop.example/logo.png" } }, "brand.logo", /data: URL/],
  [{ brand: { logo: png("AAAA") } }, "brand.logo", /brand\.logo must be a PNG/],
  [{ brand: { logo: png("!!!") } }, "brand.logo", /brand\.logo must be a PNG/],
  [{ brand: { logo: "data:image/svg+xml,%zz" } }, "brand.logo", /PNG/],
  [{ brand: { logo: `data:image/svg+xml,<svg>${"<g/>".repeat(9_000)}</svg>` } }, "brand.logo", /32 KiB/],
  [{ brand: { accnt: "#abc" } }, "brand.accnt", /Did you mean accent/],
  [{ brand: null }, "brand", /JSON object/],
  [{ brand: "#abc" }, "brand", /JSON object/],
  [{ support: "javascript:alert(1)" }, "support", /https:\/\/ URL/],
  [{ support: "" }, "support", /characters/],
  [{ payout: { wallet: "0x1" } }, "payout", /not a field/],
  [{ name: "Other" }, "name", /not a field/],
  [{ feeBps: 0 }, "feeBps", /not a field/],
  [[], undefined, /JSON object/],
];

test("D45 a wrong value is refused with its path and its form, and changes nothing", async () => {
  const merchant = await (await testApi()).openMerchant();
  const before = (await merchant.get("/api/v1/account")).body;
  for (const [body, param, message] of REFUSED) {
    const error = assertFault(await merchant.sendBody("PATCH", "/api/v1/account", { body }), 400, "invalid_request");
    assert.equal(error.param, param, JSON.stringify(body));
    assert.match(error.message, message);
  }
  const mixed = { brand: { accent: "#abc" }, support: "no" };
  assertFault(await merchant.sendBody("PATCH", "/api/v1/account", { body: mixed }), 400, "invalid_request");
  assert.deepEqual((await merchant.get("/api/v1/account")).body, before);
});
