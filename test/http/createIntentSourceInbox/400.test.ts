import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi, UNKNOWN_ID } from "../../support/api.ts";

test("D29 a body names one origin, by chain id or by its three parts", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const table: [unknown, string | undefined][] = [
    [{}, "chainId"],
    [[], undefined],
    [{ chainId: null }, "chainId"],
    [{ chainId: "31337" }, "chainId"],
    [{ chainId: 31337.5 }, "chainId"],
    [{ chainId: 0 }, "chainId"],
    [{ chainId: 31337, namespace: "solana" }, "chainId"],
    [{ chainID: 31337 }, "chainID"],
    [{ namespace: "solana", reference: "x" }, "mint"],
    [{ namespace: "solana", mint: "x" }, "reference"],
    [{ reference: "x", mint: "x" }, "namespace"],
    [{ namespace: 1, reference: "x", mint: "x" }, "namespace"],
  ];
  for (const [body, param] of table) {
    const error = assertFault(
      await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, body),
      400,
      "invalid_request",
    );
    assert.equal(error.param, param, JSON.stringify(body));
  }
});

test("D29 an invalid origin is refused", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  const bodies = [
    { chainId: 1 },
    { namespace: "solana", reference: "x", mint: "y" },
    { namespace: "near", reference: "x", mint: "y" },
  ];
  for (const body of bodies) {
    assertFault(await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, body), 400, "unsupported_origin");
  }
});

test("D20 checks run in order: shape, intent, catalogue", async () => {
  const merchant = await (await testApi()).openMerchant();
  const url = `/api/v1/intents/${UNKNOWN_ID}/source-inbox`;
  assertFault(await merchant.post(url, { chainId: "1" }), 400, "invalid_request");
  assertFault(await merchant.post(url, { chainId: 1 }), 404, "not_found");
});
