import assert from "node:assert/strict";
import { before, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { checksumAddress } from "@tributary/inbox/checksum";
import { termsFromWire } from "@tributary/inbox/wire";
import type { CheckoutState } from "@tributary/checkout/checkoutState";
import { processMovements } from "../../src/deposit/processMovements.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { parseBrandChange, updateBrand } from "../../src/merchant/brand/updateBrand.ts";
import { openCheckout, type OpenCheckout } from "../support/checkout.ts";
import { assertFault, DUSD, OTHER_CHAIN_ID, testApi, type Merchant, type TestApi } from "../support/api.ts";
import { countMoney } from "../support/countMoney.ts";
import { TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../support/movements.ts";

const PRICE = 25_000_000;

let api: TestApi;
let merchant: Merchant;
before(async () => {
  api = await testApi();
  merchant = await api.openMerchant();
});

type Payment = OpenCheckout & { intent: IntentRow };

async function openPayment(body: object = { priceUnits: PRICE, oneTime: true }): Promise<Payment> {
  const created = await merchant.createIntent(body);
  const intent = await api.world.db.root
    .selectFrom("intent")
    .selectAll()
    .where("id", "=", created.intentId)
    .executeTakeFirstOrThrow();
  return { intent, ...(await openCheckout(api, created)) };
}

let block = 100n;

type IncomingTransfer = Pick<MovementInput, "amountUnits" | "token"> & { chainReference?: string };

async function transfer({ intent }: Payment, incoming: IncomingTransfer): Promise<void> {
  block += 1n;
  const { chainReference = intent.payout_chain_reference, ...movement } = incoming;
  const chain: Caip2 = `eip155:${chainReference}`;
  await setHead(api.world.db, chain, { number: block });
  const onChain = { ...intent, payout_chain_reference: chainReference };
  await recordMovements(api.world.db, onChain, [{ chainTx: `0x${block.toString(16)}`, block, ...movement }]);
  await processMovements(api.world, chain);
}

async function mine(blocks: number): Promise<void> {
  block += BigInt(blocks);
  await setHead(api.world.db, TEST_CHAIN, { number: block });
  await countMoney(api.world, TEST_CHAIN);
}

async function stateOf({ get }: Payment): Promise<CheckoutState> {
  const { status, body, text } = await get("state");
  assert.equal(status, 200, text);
  return body as CheckoutState;
}

test("the state of a new payment has what the page shows, and nothing of metadata and reference", async () => {
  const payment = await openPayment({
    priceUnits: PRICE,
    oneTime: true,
    description: "Two seats",
    returnUrl: "https://shop.example/4711",
    merchantReference: "secret-reference",
    metadata: { secret: "secret-metadata" },
  });
  const response = await payment.get("state");
  assert.doesNotMatch(response.text, /secret-|merchantReference|metadata|widget/);
  assert.equal(response.headers["cache-control"], "no-store");
  const state = response.body as CheckoutState;
  const { stage, price, remaining, remainingUnits, arrived, counted, excess, symbol, decimals } = state;
  assert.deepEqual(
    { stage, price, remaining, remainingUnits, arrived, counted, excess, symbol, decimals },
    {
      stage: "waiting",
      price: "25",
      remaining: "25",
      remainingUnits: "25000000",
      arrived: "0",
      counted: "0",
      excess: "0",
      symbol: "USDC",
      decimals: 6,
    },
  );
  assert.deepEqual([state.description, state.returnUrl], ["Two seats", "https://shop.example/4711"]);
  assert.deepEqual(state.merchant, { name: "Test", support: null, logo: null });
  assert.match(state.paymentNumber, /^[0-9A-Z]{8}$/);
  assert.deepEqual([state.deposits, state.held, state.paidAt, state.closedAt], [[], null, null, null]);
});

test("the addresses of the state follow from its terms", async () => {
  const state = await stateOf(await openPayment());
  const [own, ...others] = state.inboxes;
  assert.ok(own);
  assert.deepEqual(others, []);
  assert.equal(own.address, checksumAddress(computeInboxAddress(termsFromWire(state.terms))));
  assert.equal(own.caip10, `${TEST_CHAIN}:${own.address}`);
  assert.equal(own.originIds.length, 1);
});

test("a payment goes from waiting over seen to paid, with its confirmations counted", async () => {
  const payment = await openPayment();
  const first = await stateOf(payment);
  assert.equal((await stateOf(payment)).version, first.version, "nothing has happened");
  await transfer(payment, { amountUnits: BigInt(PRICE) });
  const seen = await stateOf(payment);
  assert.notEqual(seen.version, first.version);
  assert.deepEqual([seen.stage, seen.remaining, seen.arrived, seen.counted], ["seen", "0", "25", "0"]);
  const [deposit] = seen.deposits;
  assert.ok(deposit);
  const { status, confirmations, required, amount, symbol, networkName } = deposit;
  assert.deepEqual(
    { status, confirmations, required, amount, symbol, networkName },
    { status: "seen", confirmations: 1, required: 2, amount: "25", symbol: "USDC", networkName: "Local" },
  );
  assert.match(deposit.explorerUrl ?? "", /\/tx\/0x/);
  await mine(5);
  const paid = await stateOf(payment);
  assert.deepEqual([paid.stage, paid.counted, paid.deposits[0]?.confirmations], ["paid", "25", 2]);
  assert.ok(paid.paidAt !== null && paid.closedAt !== null);
});

test("a part leaves the rest to pay; several transfers make the price, or more than it", async () => {
  const payment = await openPayment();
  await transfer(payment, { amountUnits: 10_000_000n });
  const part = await stateOf(payment);
  assert.deepEqual([part.stage, part.remaining, part.arrived], ["underpaid", "15", "10"]);
  await transfer(payment, { amountUnits: 20_000_000n });
  const many = await stateOf(payment);
  assert.deepEqual([many.stage, many.remaining, many.deposits.length], ["many", "0", 2]);
  await mine(5);
  const over = await stateOf(payment);
  assert.deepEqual([over.stage, over.excess], ["overpaid", "5"]);
});

test("a wrong token and a wrong network are on hold, each with its remedy", async () => {
  const payment = await openPayment();
  await transfer(payment, { token: DUSD, amountUnits: 10n ** 18n });
  const token = await stateOf(payment);
  assert.deepEqual([token.stage, token.remaining], ["held", "25"]);
  const { reason, amount, symbol, rescue } = token.held ?? {};
  assert.deepEqual([reason, amount, symbol, rescue], ["wrong_token", "1", "DUSD", "now"]);
  await transfer(payment, { chainReference: String(OTHER_CHAIN_ID), amountUnits: 7_000_000n });
  const { held, stage } = await stateOf(payment);
  assert.deepEqual([stage, held?.reason, held?.networkName, held?.rescue], ["held", "wrong_network", "Other", "later"]);
  assert.equal(held?.rescueFrom, new Date(Number(payment.intent.recover_after) * 1_000).toISOString());
  await transfer(payment, { amountUnits: 10_000_000n });
  const part = await stateOf(payment);
  assert.deepEqual([part.stage, part.remaining], ["underpaid", "15"], "the right token came last");
  await transfer(payment, { amountUnits: 15_000_000n });
  await mine(5);
  assert.equal((await stateOf(payment)).stage, "paid");
});

test("money for an archived payment is late; without money it is closed", async () => {
  const payment = await openPayment({ priceUnits: PRICE });
  await merchant.post(`/api/v1/intents/${payment.intent.id}/archive`);
  const closed = await stateOf(payment);
  assert.equal(closed.stage, "archived");
  assert.ok(closed.closedAt);
  await transfer(payment, { amountUnits: 5_000_000n });
  const late = await stateOf(payment);
  assert.deepEqual([late.stage, late.deposits[0]?.isLate], ["late", true]);
  assertFault(await payment.get("origins"), 404, "not_found");
  assertFault(await payment.post("view"), 404, "not_found");
});

test("an open payment has no price, and is paid with the first transfer that counts", async () => {
  const payment = await openPayment({});
  const open = await stateOf(payment);
  assert.deepEqual([open.stage, open.price, open.remaining, open.remainingUnits], ["waiting", null, null, null]);
  await transfer(payment, { amountUnits: 3_000_000n });
  assert.equal((await stateOf(payment)).stage, "seen");
  await mine(5);
  assert.equal((await stateOf(payment)).stage, "paid");
});

test("at most 10 transfers are shown, newest first, and a flood of small ones hides no deposit", async () => {
  const payment = await openPayment();
  await transfer(payment, { amountUnits: 10_000_000n });
  const dust = Array.from({ length: 30 }, (_, index) => ({
    chainTx: `0xd${index}${payment.intent.id}`,
    block,
    amountUnits: 1n,
  }));
  await recordMovements(api.world.db, payment.intent, dust);
  await processMovements(api.world, TEST_CHAIN);
  const state = await stateOf(payment);
  assert.equal(state.stage, "underpaid");
  assert.deepEqual([state.deposits.length, state.hasMoreDeposits], [10, true]);
  assert.ok(state.deposits.some(({ amount }) => amount === "10"));
});

test("the merchant's support address and logo are shown, and the service's support where it has none", async () => {
  const other = await api.openMerchant();
  const created = await other.createIntent();
  const { get } = await openCheckout(api, created);
  Object.assign(api.world.config, { support: "https://pay.example/help" });
  assert.equal((await get("state")).body.merchant.support, "https://pay.example/help");
  Object.assign(api.world.config, { support: undefined });
  const logo = Buffer.from('<svg viewBox="0 0 1 1" onload="alert(1)"><path d="M0 0"/></svg>');
  await updateBrand(api.world, other.accountId, parseBrandChange({ support: "help@shop.example", logo }));
  const { merchant: shown } = (await get("state")).body;
  assert.deepEqual(shown, { name: "Test", support: "mailto:help@shop.example", logo: `/c/${created.intentId}/logo` });
  const image = await api.send(shown.logo);
  assert.equal(image.headers["content-type"], "image/svg+xml");
  assert.match(String(image.headers["content-security-policy"]), /default-src 'none'.*sandbox/);
  assert.doesNotMatch(image.text, /alert/);
  assertFault(await api.send(`/c/${(await merchant.createIntent()).intentId}/logo`), 404, "not_found");
});
