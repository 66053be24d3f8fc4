import assert from "node:assert/strict";
import { test } from "node:test";
import { TWO_DECIMAL_TOKEN, DUSD, OTHER_CHAIN_ID, testApi, USDC } from "../../support/api.ts";
import { CLUSTER, createSolanaIntent, remoteGateApi, MINT } from "../../support/remoteGateApi.ts";

const SELECTION = { namespace: "eip155", reference: "31337", tokenAddress: USDC };

test("§4.6.1 a view is recorded for an active intent, with an empty body or none", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  for (const body of [undefined, {}, { selection: null }]) {
    const { status, body: answer } = await merchant.post(`/api/v1/intents/${intentId}/view`, body);
    assert.deepEqual([status, answer], [202, { recorded: true }]);
  }
});

test("§4.6.3 a selection is recorded once its source inbox is issued, in any spelling of the token", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId, payout } = await merchant.createIntent();
  const url = `/api/v1/intents/${intentId}/view`;
  assert.deepEqual((await merchant.post(url, { selection: SELECTION })).body, { recorded: false });
  await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
  for (const tokenAddress of [USDC, payout.tokenAddress]) {
    const { body } = await merchant.post(url, { selection: { ...SELECTION, tokenAddress } });
    assert.deepEqual(body, { recorded: true });
  }
});

test("§4.6.2 a view does not change the intent, its deposits or its settlements", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent({ priceUnits: 5, oneTime: true });
  const url = `/api/v1/intents/${intentId}`;
  const { body: before } = await merchant.get(url);
  await merchant.post(`${url}/source-inbox`, { chainId: 31337 });
  for (const body of [{}, { selection: SELECTION }, {}]) {
    // A later write would show a different time.
    api.advanceTime(1_000);
    assert.deepEqual((await merchant.post(`${url}/view`, body)).body, { recorded: true });
    assert.deepEqual((await merchant.get(url)).body, before);
  }
  for (const list of ["deposits", "settlements"])
    assert.deepEqual((await merchant.get(`${url}/${list}`)).body.data, []);
});

test("D30 an unknown chain or token gets 202 and records nothing", async () => {
  const merchant = await (await testApi()).openMerchant();
  const { intentId } = await merchant.createIntent();
  await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
  const others = [
    { reference: String(OTHER_CHAIN_ID) },
    { reference: "1" },
    { namespace: "near" },
    { tokenAddress: "0x1" },
    // Valid as a payout token, but not as an origin.
    { tokenAddress: TWO_DECIMAL_TOKEN },
  ];
  for (const other of others) {
    const { status, body } = await merchant.post(`/api/v1/intents/${intentId}/view`, {
      selection: { ...SELECTION, ...other },
    });
    assert.deepEqual([status, body], [202, { recorded: false }], JSON.stringify(other));
  }
});

test("D30 every origin token of the issued chain is recorded; a settled intent records only selections", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent({ oneTime: true, priceUnits: 5 });
  const url = `/api/v1/intents/${intentId}`;
  await merchant.post(`${url}/source-inbox`, { chainId: 31337 });
  const view = async (selection?: object) => (await merchant.post(`${url}/view`, { selection })).body.recorded;
  const named = [SELECTION, { ...SELECTION, tokenAddress: DUSD }, { ...SELECTION, tokenAddress: upper(USDC) }];
  for (const selection of named) assert.equal(await view(selection), true);
  for (const other of [{ namespace: "EIP155" }, { reference: "031337" }, { tokenAddress: `${USDC} ` }])
    assert.equal(await view({ ...SELECTION, ...other }), false);
  const settled = { status: "settled" as const, settled_at: api.world.clock.now() };
  await api.world.db.root.updateTable("intent").set(settled).where("id", "=", intentId).execute();
  assert.deepEqual([await view(), await view(SELECTION)], [false, true]);
});

test("D30 a Solana mint must match byte for byte", async () => {
  const { api } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const url = `/api/v1/intents/${await createSolanaIntent(merchant)}`;
  const place = { namespace: "solana", reference: CLUSTER };
  const issued = await merchant.post(`${url}/source-inbox`, { ...place, mint: MINT });
  assert.equal(issued.status, 201, issued.text);
  const view = async (tokenAddress: string) =>
    (await merchant.post(`${url}/view`, { selection: { ...place, tokenAddress } })).body.recorded;
  assert.deepEqual([await view(MINT), await view(MINT.toLowerCase()), await view(upper(MINT))], [true, false, false]);
});

function upper(address: string): string {
  return `0x${address.slice(2).toUpperCase()}`;
}
