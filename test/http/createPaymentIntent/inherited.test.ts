import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { buildCatalog } from "../../../src/catalog/catalog.ts";
import { clearKeyCache } from "../../../src/merchant/keys/keyCache.ts";
import { assertFault, DUSD, openTestApi, OTHER_CHAIN_ID, testApi, USDC, type TestApi } from "../../support/api.ts";

// What a create leaves out and nobody else has said either.

const URL = "/api/v1/intents";

let api: TestApi;

/** On the second chain there are two tokens, and neither is its default. */
before(async () => {
  const { world } = await testApi();
  const chains = world.config.chains.map((chain) =>
    chain.chainId === OTHER_CHAIN_ID ? { ...chain, defaultToken: undefined } : chain,
  );
  const config = { ...world.config, chains };
  api = await openTestApi(world.db, { config, catalog: buildCatalog(config) });
});
after(() => api.server.close());

test("D11 a token that neither the call nor the account nor the chain names is asked for, and nothing is minted", async () => {
  const merchant = await api.openMerchant();
  const currency = async (symbol: string | null) => {
    const { db } = api.world;
    await db.root.updateTable("account").set({ currency: symbol }).where("id", "=", merchant.accountId).execute();
    clearKeyCache(api.world);
  };
  for (const symbol of [null, "EURC"]) {
    await currency(symbol);
    const answered = await merchant.post(URL, { payoutChainReference: OTHER_CHAIN_ID });
    assert.equal(assertFault(answered, 400, "token_required").param, "payoutTokenAddress");
    assert.deepEqual((await merchant.get(URL)).body.data, []);
  }
  const tokenOf = async (body: object) =>
    (await merchant.createIntent({ payoutChainReference: OTHER_CHAIN_ID, ...body })).payout.tokenAddress.toLowerCase();
  assert.equal(await tokenOf({ payoutTokenAddress: USDC }), USDC, "named by the call");
  await currency("DUSD");
  assert.equal(await tokenOf({}), DUSD, "the account's currency");
});
