import assert from "node:assert/strict";
import { test } from "node:test";
import { assertFault, testApi, UNKNOWN_ID } from "../../support/api.ts";

test("D30 a selection has exactly its three fields", async () => {
  const merchant = await (await testApi()).openMerchant();
  const whole = { namespace: "eip155", reference: "1", tokenAddress: "0x1" };
  const table: [unknown, string][] = [
    [{ selection: {} }, "selection.namespace"],
    [{ selection: { ...whole, reference: undefined } }, "selection.reference"],
    [{ selection: { ...whole, tokenAddress: null } }, "selection.tokenAddress"],
    [{ selection: { ...whole, reference: 1 } }, "selection.reference"],
    [{ selection: { ...whole, namespace: "" } }, "selection.namespace"],
    [{ selection: { ...whole, token: "0x1" } }, "selection.token"],
    [{ selection: "eip155" }, "selection"],
    [{ selection: [] }, "selection"],
    [{ selecton: whole }, "selecton"],
  ];
  for (const [body, param] of table) {
    const error = assertFault(await merchant.post(`/api/v1/intents/${UNKNOWN_ID}/view`, body), 400, "invalid_request");
    assert.equal(error.param, param, JSON.stringify(body));
  }
});
