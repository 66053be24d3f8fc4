import assert from "node:assert/strict";
import { test } from "node:test";
import { setOriginEnabled } from "../../../src/inbox/originSwitch.ts";
import { clearKeyCache } from "../../../src/merchant/keys/keyCache.ts";
import { DUSD, testApi, USDC, type Merchant, type TestApi } from "../../support/api.ts";
import { CLUSTER, createSolanaIntent, remoteGateApi, MINT } from "../../support/remoteGateApi.ts";

type Listed = { chainId: number; token: { symbol: string }; depositIssuable: boolean };

async function setWatched(api: TestApi, ageMs: number): Promise<void> {
  const now = api.world.clock.now();
  const row = {
    chain: "eip155:31337" as const,
    genesis_hash: "0x00",
    number: 1n,
    hash: "0x01",
    reread_number: 0n,
    updated_at: new Date(now.getTime() - ageMs),
  };
  await api.world.db.root
    .insertInto("chain_cursor")
    .values(row)
    .onConflict((conflict) => conflict.column("chain").doUpdateSet({ updated_at: row.updated_at }))
    .execute();
}

async function originsOf(merchant: Merchant, intentId: string) {
  const { status, body, text } = await merchant.get(`/api/v1/intents/${intentId}/origins`);
  assert.equal(status, 200, text);
  const issuable = body.origins.filter((origin: Listed) => origin.depositIssuable);
  return { body, issuable: issuable.map((origin: Listed) => `${origin.chainId} ${origin.token.symbol}`) };
}

test("D28 only the intent's own rail is issuable while its chain is watched, and it comes first", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  await setWatched(api, 1_000);
  const { body, issuable } = await originsOf(merchant, intentId);
  assert.deepEqual(issuable, ["31337 USDC"]);
  assert.deepEqual([body.origins[0].chainId, body.origins[0].token.symbol], [31337, "USDC"]);
  assert.equal(body.sourceDepositIssuable, true);
});

test("§4.4.1 on an unwatched chain nothing is issuable, and every origin is still listed", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  await setWatched(api, 3_600_000);
  const { body, issuable } = await originsOf(merchant, intentId);
  assert.deepEqual(issuable, []);
  assert.equal(body.sourceDepositIssuable, false);
  assert.equal(body.origins.length, 4);
});

test("D28 a settled intent accepts no deposit, and its origins are still listed", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const settled = {
    one_time: true,
    price_token_units: 5n,
    status: "settled" as const,
    settled_at: api.world.clock.now(),
  };
  const { id } = await merchant.insertIntent(settled);
  await setWatched(api, 1_000);
  const { body } = await originsOf(merchant, id);
  assert.equal(body.sourceDepositIssuable, false);
  assert.equal(body.origins.length, 4);
});

test("§1.4, §2.3, §2.4 an origin and a rail have every field in its documented form", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  const { intentId, payout } = await merchant.createIntent();
  const { body } = await originsOf(merchant, intentId);
  const [origin] = body.origins.filter((each: Listed) => each.chainId === 31337 && each.token.symbol === "USDC");
  const common = { namespace: "eip155", reference: "31337", chainId: 31337 };
  const token = { symbol: "USDC", address: payout.tokenAddress, decimals: 6 };
  const explorerUrl = "http://127.0.0.1:1";
  assert.deepEqual(
    { ...origin, depositIssuable: undefined },
    {
      ...common,
      name: "Local",
      shortName: "local",
      publicRpcUrl: explorerUrl,
      explorerUrl,
      nativeName: "Ether",
      nativeSymbol: "ETH",
      nativeDecimals: 18,
      token,
      caip19: payout.caip19,
      minimumUnits: "500000",
      minimumDisplay: "0.5",
      depositIssuable: undefined,
    },
  );
  const rails = body.settleRails.filter((rail: { default: boolean }) => rail.default);
  assert.deepEqual(rails, [
    { id: "local:usdc", ...common, chainName: "Local", token, explorerUrl, status: "live", default: true },
  ]);
  assert.equal(body.settleRails.length, 5);
});

test("D27 origins sort by issuable, then settle chain, then catalogue order", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  await setWatched(api, 1_000);
  const [local, other] = [
    ["31337 USDC", "31337 DUSD"],
    ["31338 USDC", "31338 DUSD"],
  ];
  // Only the first chain is watched.
  const orders = [
    [{ payoutTokenAddress: USDC }, "31337 USDC", ["31337 DUSD", ...other]],
    [{ payoutTokenAddress: DUSD }, "31337 DUSD", ["31337 USDC", ...other]],
    [{ payoutChainReference: "31338" }, undefined, [...other, ...local]],
  ] as const;
  for (const [destination, first, others] of orders) {
    const { intentId } = await merchant.createIntent(destination);
    const { body, issuable } = await originsOf(merchant, intentId);
    const order = body.origins.map(({ chainId, token }: Listed) => `${chainId} ${token.symbol}`);
    assert.deepEqual([issuable, order], first === undefined ? [[], others] : [[first], [first, ...others]]);
  }
});

test("D27 Solana's origins have their cluster's number and CAIP-19, and are not issuable unwatched", async () => {
  const { api } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  await setWatched(api, 1_000);
  const { body, issuable } = await originsOf(merchant, intentId);
  assert.deepEqual(issuable, ["31337 USDC"], "the issuable one stands first");
  assert.deepEqual([body.origins[0].chainId, body.origins[0].token.symbol], [31337, "USDC"]);
  const [origin] = body.origins.filter((each: Listed) => each.chainId === 103);
  assert.deepEqual(origin, {
    namespace: "solana",
    reference: CLUSTER,
    chainId: 103,
    name: "Solana Devnet",
    shortName: "solana-devnet",
    publicRpcUrl: "https://api.devnet.solana.com",
    explorerUrl: "https://explorer.solana.com",
    nativeName: "Solana",
    nativeSymbol: "SOL",
    nativeDecimals: 9,
    token: { symbol: "USDC", address: MINT, decimals: 6 },
    caip19: `solana:${CLUSTER}/token:${MINT}`,
    minimumUnits: "10000",
    minimumDisplay: "0.01",
    depositIssuable: false,
  });
});

test("D27 with nothing issuable the settle chain's origins come first, and the account's rail is the default", async () => {
  const { api } = await remoteGateApi();
  const merchant = await api.openMerchant();
  await setWatched(api, 3_600_000);
  const { body } = await originsOf(merchant, await createSolanaIntent(merchant));
  assert.deepEqual([body.origins[0].chainId, body.sourceDepositIssuable], [103, false]);
  const rails = body.settleRails.filter((rail: { default: boolean }) => rail.default);
  assert.deepEqual(
    rails.map(({ id }: { id: string }) => id),
    ["local:usdc"],
  );
  const otherCurrency = { currency: "DUSD" };
  await api.world.db.root.updateTable("account").set(otherCurrency).where("id", "=", merchant.accountId).execute();
  clearKeyCache(api.world);
  const changed = (await originsOf(merchant, await createSolanaIntent(merchant))).body.settleRails;
  assert.deepEqual(
    changed.filter((rail: { default: boolean }) => rail.default).map(({ id }: { id: string }) => id),
    ["local:dusd"],
  );
  const bare = await api.openMerchant({ hasDefaults: false });
  const { intentId } = await bare.createIntent({
    payoutNamespace: "eip155",
    payoutChainReference: "31338",
    payoutWallet: merchant.wallet,
    payoutTokenAddress: USDC,
  });
  const listed = (await originsOf(bare, intentId)).body;
  assert.equal(listed.origins[0].chainId, 31338);
  assert.equal(listed.settleRails.filter((rail: { default: boolean }) => rail.default).length, 1, "the catalogue's");
});

test("D28 a disabled origin is listed but not issuable, and an unbound customer accepts no deposit", async () => {
  const { api } = await remoteGateApi();
  const merchant = await api.openMerchant();
  const { intentId } = await merchant.createIntent();
  await setWatched(api, 1_000);
  const before = (await originsOf(merchant, intentId)).body;
  assert.deepEqual([before.sourceDepositIssuable, before.origins[0].depositIssuable], [false, true], "not bound yet");
  await merchant.post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: 31337 });
  assert.equal((await originsOf(merchant, intentId)).body.sourceDepositIssuable, true);
  const origin = api.world.catalog.assets.find((asset) => asset.chainId === 31337 && asset.token === USDC);
  assert.ok(origin);
  await setOriginEnabled(api.world, { origin, isEnabled: false });
  const { body, issuable } = await originsOf(merchant, intentId);
  await setOriginEnabled(api.world, { origin, isEnabled: true });
  assert.deepEqual([issuable, body.sourceDepositIssuable, body.origins.length], [[], false, 6]);
});
