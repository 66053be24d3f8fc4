import assert from "node:assert/strict";
import { test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { termsFromWire } from "@tributary/inbox/wire";
import { clearKeyCache } from "../../../src/merchant/keys/keyCache.ts";
import { testApi, type Merchant, type TestApi } from "../../support/api.ts";
import { createSolanaIntent, remoteGateApi } from "../../support/remoteGateApi.ts";
import { randomAddress } from "../../support/intents.ts";

const URL = "/api/v1/intents";
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

type Changes = { fee_bps?: number; recovery?: string; underpay_tolerance_bps?: number; payout_wallet?: string };

async function change({ world }: TestApi, { accountId }: Merchant, columns: Changes): Promise<void> {
  await world.db.root.updateTable("account").set(columns).where("id", "=", accountId).execute();
  clearKeyCache(world);
}

test("D7, D8, §4.2.2 an intent pins fee, recovery, wallet and tolerance of its account at creation", async () => {
  const api = await testApi();
  const merchant = await api.openMerchant();
  await change(api, merchant, { fee_bps: 125, underpay_tolerance_bps: 100 });
  const { widgetToken, ...first } = await merchant.createIntent({ payoutNamespace: "eip155" });
  assert.ok(widgetToken);
  const changes = { fee_bps: 1_000, recovery: randomAddress(), underpay_tolerance_bps: 500 };
  await change(api, merchant, { ...changes, payout_wallet: randomAddress() });
  const { body: read } = await merchant.get(`${URL}/${first.intentId}`);
  assert.deepEqual(read, { ...first, created: false });
  const again = await merchant.createIntent({ payoutWallet: merchant.wallet });
  assert.deepEqual([again.intentId, again.feeBps, again.inboxTerms], [first.intentId, 125, first.inboxTerms]);
  const { feeBps, inboxTerms } = await merchant.createIntent();
  assert.deepEqual(
    [feeBps, inboxTerms.feeBps, inboxTerms.recovery.toLowerCase()],
    [1_000, 1_000, changes.recovery.toLowerCase()],
  );
  const row = await api.world.db.root
    .selectFrom("intent")
    .select("underpay_tolerance_bps")
    .where("id", "=", first.intentId)
    .executeTakeFirstOrThrow();
  assert.equal(row.underpay_tolerance_bps, 100);
});

test("D31 recovery is the account's address, else the EVM wallet, else zero, and starts on the first of a month", async () => {
  const [api, gated] = [await testApi(), (await remoteGateApi()).api];
  const merchant = await api.openMerchant();
  const onWallet = await merchant.createIntent();
  assert.equal(onWallet.inboxTerms.recovery, onWallet.payout.wallet);
  const named = randomAddress();
  const other = await merchant.createIntent({ payoutWallet: named });
  assert.equal(other.inboxTerms.recovery.toLowerCase(), named);
  const onSolana = await gated.openMerchant();
  const { body } = await onSolana.get(`${URL}/${await createSolanaIntent(onSolana)}`);
  assert.equal(body.inboxTerms.recovery, ZERO_ADDRESS);
  await change(api, merchant, { recovery: named });
  const own = await merchant.createIntent();
  assert.equal(own.inboxTerms.recovery.toLowerCase(), named);
  for (const { inboxTerms, createdAt, inboxAddress: inbox } of [onWallet, other, own]) {
    const begins = new Date(inboxTerms.recoverAfter * 1_000);
    assert.deepEqual([begins.getUTCDate(), begins.getTime() % 86_400_000], [1, 0]);
    const days = (begins.getTime() - Date.parse(createdAt)) / 86_400_000;
    assert.ok(days >= 180 && days < 212, `${days} days`);
    assert.equal(computeInboxAddress(termsFromWire(inboxTerms)), inbox.toLowerCase());
  }
});
