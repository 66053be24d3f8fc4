import assert from "node:assert/strict";
import { test } from "node:test";
import { openCheckout } from "../support/checkout.ts";
import { recordMovements, setHead } from "../support/movements.ts";
import { createSolanaIntent, solanaApi } from "../support/solanaApi.ts";
import { CLUSTER, MINT, OTHER_MINT, SOLANA_CHAIN_CONFIG } from "../support/solanaConfig.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";

const ORIGIN = `solana:${CLUSTER}/token:${MINT}`;

test("D38 the page of a payout on Solana has its address, its one origin, its terms and its deposits", async () => {
  const api = await solanaApi();
  const merchant = await api.openMerchant();
  const created = await createSolanaIntent(merchant, { priceUnits: 25_000_000, oneTime: true });
  const page = await openCheckout(api, created);
  const { body: state } = await page.get("state");
  const inbox = {
    namespace: "solana",
    reference: CLUSTER,
    networkName: "Solana Devnet",
    address: created.inboxAddress,
    caip10: `solana:${CLUSTER}:${created.inboxAddress}`,
    originIds: [ORIGIN],
    isPayoutInbox: true,
    paymentRequestUrl: `${api.world.config.baseUrl}/c/${created.intentId}/solana-pay`,
  };
  assert.deepEqual([state.inboxes, state.symbol], [[inbox], "USDC"]);
  assert.deepEqual(state.terms.solana, created.inboxTerms.solana);
  const issued = await page.post("source-inbox", { originId: ORIGIN });
  assert.deepEqual([issued.status, issued.body], [201, inbox]);
  const other = await page.post("source-inbox", { originId: `solana:${CLUSTER}/token:${OTHER_MINT}` });
  assert.equal(other.body.error.code, "source_inbox_not_active");
  const viewed = await page.post("view", { originId: ORIGIN });
  assert.deepEqual([viewed.status, viewed.body], [202, { recorded: true }]);

  const { db } = api.world;
  await setHead(db, SOLANA_CHAIN_CONFIG.caip2, { number: 20n, safe: 20n, finalized: 5n });
  const row = db.root.selectFrom("intent").selectAll().where("id", "=", created.intentId);
  const intent = await row.executeTakeFirstOrThrow();
  const sender = created.payout.wallet;
  await recordMovements(db, intent, [
    { chainTx: "5signature", block: 10n, amountUnits: 25_000_000n, counterparty: sender },
    { chainTx: "5stray", block: 10n, amountUnits: 3_000_000n, counterparty: sender, token: OTHER_MINT },
  ]);
  await processMovements(api.world, SOLANA_CHAIN_CONFIG.caip2);
  const { deposits, held, arrived } = (await page.get("state")).body;
  const [usdc] = deposits.filter(({ symbol }: { symbol: string }) => symbol === "USDC");
  assert.deepEqual(
    [usdc.from, usdc.transfer, usdc.explorerUrl, usdc.status, arrived],
    [sender, "5signature", "https://explorer.solana.com/tx/5signature", "seen", "25"],
  );
  assert.deepEqual([held?.reason, held?.symbol, held?.rescue], ["wrong_token", "EURC", "now"]);
});
