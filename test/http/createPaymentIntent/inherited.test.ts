import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { buildCatalog } from "../../../src/catalog/catalog.ts";
import { clearKeyCache } from "../../../src/merchant/keys/keyCache.ts";
import { assertFault, DUSD, openTestApi, OTHER_CHAIN_ID, testApi, USDC, type TestApi } from "../../support/api.ts";

// Fields that a create omits and that have no default.

const URL = "/api/v1/intents";

let api: TestApi;

/** The second chain has two tokens and no default token. */
before(async () => {
  const { world } = await testApi();
  const chains = world.config.chains.map((chain) =>
    chain.chainId === OTHER_CHAIN_ID ? { ...chain, defaultToken: undefined } : chain,
  );
  const config = { ...world.config, chains };
  api = await openTestApi(world.db, { config, catalog: buildCatalog(config) });
});
after(() => api.server.close());

test("D11 a create without a token from call, account or chain gets token_required and creates nothing", async () => {
  const merchant = await api.openMerchant();
  const setCurrency = async (symbol: string | null) => {
    const { db } = api.world;
    await db.root.updateTable("account").set({ currency: symbol }).where("id", "=", merchant.accountId).execute();
    clearKeyCache(api.world);
  };
  for (const symbol of [null, "EURC"]) {
    await setCurrency(symbol);
    const response = await merchant.post(URL, { payoutChainReference: OTHER_CHAIN_ID });
    assert.equal(assertFault(response, 400, "token_required").param, "payoutTokenAddress");
    assert.deepEqual((await merchant.get(URL)).body.data, []);
  }
  const tokenOf = async (body: object) =>
    (await merchant.createIntent({ payoutChainReference: OTHER_CHAIN_ID, ...body })).payout.tokenAddress.toLowerCase();
  assert.equal(await tokenOf({ payoutTokenAddress: USDC }), USDC, "named by the call");
  await setCurrency("DUSD");
  assert.equal(await tokenOf({}), DUSD, "the account's currency");
});
