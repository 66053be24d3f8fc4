import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import type { CheckoutState } from "@tributary/checkout/checkoutState";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { caip2 } from "../../src/kernel/caip.ts";
import { updateBrand } from "../../src/merchant/brand/updateBrand.ts";
import { assertFault, UNKNOWN_ID, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { openCheckout } from "../support/checkout.ts";
import { createLocalIntent, openLocalSolanaApi } from "../support/localSolanaApi.ts";
import { callRpc, createWallet, startTestSolana } from "../support/solana.ts";
import { signTransaction } from "../support/standardWallet.ts";

const JSON_BODY = { "content-type": "application/json" };
const PRICE = 25_000_000n;
const { payer } = SOLANA_ACCOUNTS;

let solana: LocalSolana;
let api: TestApi;
let merchant: Merchant;

before(async () => {
  solana = await startTestSolana({ name: "solana pay" });
  api = await openLocalSolanaApi(solana);
  merchant = await api.openMerchant();
});

after(async () => api.server.close());

function get(intentId: string) {
  return api.send(`/c/${intentId}/solana-pay`, { headers: { origin: "https://wallet.example" } });
}

function post(intentId: string, body: unknown, query = "") {
  return api.send(`/c/${intentId}/solana-pay${query}`, { method: "POST", headers: JSON_BODY, body });
}

function inboxUnits({ inboxAddress }: Json): bigint {
  return solana.control.units(deriveTokenAccount(inboxAddress, LOCAL_MINTS.USDC.address, tokenProgram).address);
}

/** Signs and sends as a wallet does. */
async function pay(transaction: string, wallet: Keypair): Promise<void> {
  const signed = Buffer.from(signTransaction(new Uint8Array(Buffer.from(transaction, "base64")), wallet));
  const sent = await callRpc(solana, "sendTransaction", signed.toString("base64"), {
    encoding: "base64",
    preflightCommitment: "confirmed",
  });
  assert.equal(sent.error, undefined, JSON.stringify(sent.error));
  solana.control.nextSlot();
}

test("a wallet reads who asks, and the transaction that it gets pays exactly the price into the inbox", async () => {
  const intent = await createLocalIntent(await api.openMerchant(), solana);
  const asked = await get(intent.intentId);
  assert.deepEqual([asked.status, asked.headers["access-control-allow-origin"]], [200, "*"]);
  const { merchant: shop } = (await (await openCheckout(api, intent)).get("state")).body as CheckoutState;
  const icon = `${api.world.config.baseUrl}/c/${intent.intentId}/pay.svg`;
  assert.deepEqual(asked.body, { label: shop.name, icon });
  assert.equal((await api.send(`/c/${intent.intentId}/pay.svg`)).headers["content-type"], "image/svg+xml");
  const answered = await post(intent.intentId, { account: payer.address });
  assert.equal(answered.status, 200, answered.text);
  assert.equal(answered.headers["access-control-allow-origin"], "*");
  assert.equal(answered.body.message, `${shop.name}: 25 USDC`);
  await pay(answered.body.transaction, payer);
  assert.equal(inboxUnits(intent), PRICE);
});

test("a merchant's logo is the icon, and browsers may ask from any page", async () => {
  const shop = await api.openMerchant();
  const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`);
  await updateBrand(api.world, shop.accountId, { logo: { type: "image/svg+xml", bytes } });
  const { intentId } = await createLocalIntent(shop, solana);
  assert.equal((await get(intentId)).body.icon, `${api.world.config.baseUrl}/c/${intentId}/logo`);
  const preflight = await api.send(`/c/${intentId}/solana-pay`, { method: "OPTIONS" });
  assert.deepEqual([preflight.status, preflight.text], [204, ""]);
  assert.equal(preflight.headers["access-control-allow-origin"], "*");
  assert.match(String(preflight.headers["access-control-allow-methods"]), /POST/);
  // What @solana/pay sends: a browser refuses its requests otherwise.
  for (const header of [/Content-Type/, /Cache-Control/])
    assert.match(String(preflight.headers["access-control-allow-headers"]), header);
});

test("while the chain's provider is down, a wallet is asked to try again", async () => {
  const intent = await createLocalIntent(await api.openMerchant(), solana);
  const broken = await openLocalSolanaApi({ ...solana, url: "http://127.0.0.1:1" });
  const answered = await broken.send(`/c/${intent.intentId}/solana-pay`, {
    method: "POST",
    headers: JSON_BODY,
    body: { account: payer.address },
  });
  assertFault(answered, 503, "source_inbox_unavailable");
  assert.equal(answered.headers["retry-after"], "5");
  assert.equal(answered.headers["access-control-allow-origin"], "*");
  const chain = broken.world.chains.get(caip2("solana", solana.reference));
  assert.equal(chain?.providers.failureCounts.size, 0, "deposits and settlements still ask the provider");
  await broken.server.close();
});

test("the transaction pays what is left after a part has come", async () => {
  const intent = await createLocalIntent(await api.openMerchant(), solana);
  await api.world.db.root
    .updateTable("intent")
    .set({ received_units: 20_000_000n })
    .where("id", "=", intent.intentId)
    .execute();
  const { body } = await post(intent.intentId, { account: payer.address });
  await pay(body.transaction, payer);
  assert.equal(inboxUnits(intent), 5_000_000n);
});

test("a malformed account and a poor one are refused with the field", async () => {
  const { intentId } = await createLocalIntent(await api.openMerchant(), solana);
  for (const account of [undefined, 1, "", "0x12", payer.address.toLowerCase().slice(0, 30), `${payer.address}1`]) {
    const refused = await post(intentId, { account });
    assert.equal(assertFault(refused, 400, "invalid_request").param, "account");
    assert.equal(refused.headers["access-control-allow-origin"], "*");
  }
  const poor = createWallet(solana).address;
  const { param, message } = assertFault(await post(intentId, { account: poor }), 400, "invalid_request");
  assert.deepEqual([param, message], ["account", "This wallet holds too little USDC."]);
  assertFault(await post(intentId, "{"), 400, "invalid_json");
  assertFault(await post(intentId, { account: "1".repeat(5_000) }), 413, "payload_too_large");
});

test("a payment without a price pays the amount that the request names, and no other text", async () => {
  const open = await createLocalIntent(await api.openMerchant(), solana, { priceUnits: null, oneTime: false });
  const body = { account: payer.address };
  for (const query of [
    "",
    "?units=0",
    "?units=1.5",
    "?units=-1",
    "?units=",
    "?units=1&units=2",
    `?units=${2n ** 64n}`,
  ]) {
    const refused = await post(open.intentId, body, query);
    assert.equal(assertFault(refused, 400, "invalid_request").param, "units", query);
  }
  const answered = await post(open.intentId, body, "?units=12500000");
  assert.match(answered.body.message, /: 12\.5 USDC$/);
  await pay(answered.body.transaction, payer);
  assert.equal(inboxUnits(open), 12_500_000n);
  const poor = { account: createWallet(solana).address };
  assert.equal(assertFault(await post(open.intentId, poor, "?units=1"), 400, "invalid_request").param, "account");
});

test("the amount of a request cannot change a price", async () => {
  const intent = await createLocalIntent(await api.openMerchant(), solana);
  const { body } = await post(intent.intentId, { account: payer.address }, "?units=1");
  await pay(body.transaction, payer);
  assert.equal(inboxUnits(intent), PRICE);
});

test("unknown, archived, paid and EVM payments give no transaction", async () => {
  const account = payer.address;
  assertFault(await get(UNKNOWN_ID), 404, "not_found");
  assertFault(await post(UNKNOWN_ID, { account }), 404, "not_found");
  const onEvm = await merchant.createIntent({ payoutWallet: merchant.wallet });
  assertFault(await post(onEvm.intentId, { account }), 404, "not_found");
  const archived = await createLocalIntent(merchant, solana);
  assert.equal((await merchant.post(`/api/v1/intents/${archived.intentId}/archive`)).status, 200);
  assertFault(await get(archived.intentId), 404, "not_found");
  assertFault(await post(archived.intentId, { account }), 404, "not_found");
  const paid = await createLocalIntent(await api.openMerchant(), solana);
  await api.world.db.root
    .updateTable("intent")
    .set({ received_units: PRICE })
    .where("id", "=", paid.intentId)
    .execute();
  assertFault(await post(paid.intentId, { account }), 503, "source_inbox_not_active");
});

test("requests for one payment are limited", async () => {
  const { intentId } = await createLocalIntent(await api.openMerchant(), solana);
  const statuses: number[] = [];
  for (let count = 0; count < 61; count += 1) statuses.push((await get(intentId)).status);
  assert.deepEqual(statuses.slice(-2), [200, 429]);
});

test("a stranger who knows only the id learns name, icon and payment, and makes the service plan, sign and store nothing", async () => {
  const kept = { merchantReference: "order-4711-private", metadata: { note: "private-note" } };
  const { intentId } = await createLocalIntent(await api.openMerchant(), solana, kept);
  const rowsBefore = await countRows(intentId);
  const described = await get(intentId);
  const answered = await post(intentId, { account: payer.address });
  assert.deepEqual(
    [Object.keys(described.body).toSorted(), Object.keys(answered.body).toSorted()],
    [
      ["icon", "label"],
      ["message", "transaction"],
    ],
  );
  assert.doesNotMatch(`${described.text}${answered.text}`, /private/);
  for (const { headers } of [described, answered]) assert.equal(headers["set-cookie"], undefined);
  const bytes = Buffer.from(answered.body.transaction, "base64");
  assert.equal(
    bytes.subarray(0, 65).toString("hex"),
    `01${"00".repeat(64)}`,
    "one place for a signature, and it is empty",
  );
  assert.deepEqual(await countRows(intentId), rowsBefore);
});

async function countRows(intentId: string): Promise<Record<string, number>> {
  const { root } = api.world.db;
  const [primed, views, inboxes, outgoing] = await Promise.all([
    root.selectFrom("primed_account").select("intent_id").where("intent_id", "=", intentId).execute(),
    root.selectFrom("view_hint").select("intent_id").where("intent_id", "=", intentId).execute(),
    root.selectFrom("source_inbox").select("intent_id").where("intent_id", "=", intentId).execute(),
    root.selectFrom("outgoing_transaction").select("id").execute(),
  ]);
  return { primed: primed.length, views: views.length, inboxes: inboxes.length, outgoing: outgoing.length };
}

test("a flood about one payment ends after 60 requests a minute, reaches the chain a few times, and malformed requests never", async () => {
  const { intentId } = await createLocalIntent(await api.openMerchant(), solana);
  const chain = api.world.chains.get(caip2("solana", solana.reference));
  assert.ok(chain?.payerReader);
  const { payerReader: reader } = chain;
  const head = reader.head.bind(reader);
  const holdings = reader.holdings?.bind(reader);
  assert.ok(holdings);
  let asked = 0;
  let looked = 0;
  reader.head = (tag) => {
    asked += 1;
    return head(tag);
  };
  Object.assign(reader, {
    holdings: (...args: Parameters<typeof holdings>) => {
      looked += 1;
      return holdings(...args);
    },
  });
  const startedMs = performance.now();
  try {
    for (let count = 0; count < 5; count += 1) await post(intentId, { account: "0x12" });
    assert.equal(asked, 0);
    const statuses: number[] = [];
    for (let count = 0; count < 60; count += 1)
      statuses.push((await post(intentId, { account: payer.address })).status);
    assert.deepEqual([statuses.indexOf(429), new Set(statuses.slice(55))], [55, new Set([429])]);
    const seconds = Math.ceil((performance.now() - startedMs) / 1_000);
    assert.ok(
      asked <= 1 + seconds / 2 && looked <= 5 * (seconds + 1),
      `${asked} heads, ${looked} balances in ${seconds} s`,
    );
  } finally {
    Object.assign(reader, { head, holdings });
  }
});

test("the page's state names the address, the request's URL and the explorer of the cluster, and its policy the RPC URL", async () => {
  const intent = await createLocalIntent(await api.openMerchant(), solana);
  const page = await openCheckout(api, intent);
  const { inboxes, terms } = (await page.get("state")).body as CheckoutState;
  const { baseUrl } = api.world.config;
  assert.deepEqual(
    inboxes.map(({ namespace, address, paymentRequestUrl }) => [namespace, address, paymentRequestUrl]),
    [["solana", intent.inboxAddress, `${baseUrl}/c/${intent.intentId}/solana-pay`]],
  );
  assert.equal(terms.solana?.kind, "pay");
  const policyOf = async ({ intentId }: Json) =>
    String((await api.send(`/c/${intentId}`)).headers["content-security-policy"]);
  assert.match(await policyOf(intent), new RegExp(`connect-src 'self' ${solana.url};`));
  assert.match(await policyOf(await merchant.createIntent()), /connect-src 'self';/);
});
