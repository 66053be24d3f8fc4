import assert from "node:assert/strict";
import { test } from "node:test";
import { setHead } from "../../support/movements.ts";
import type { Merchant } from "../../support/api.ts";
import { createSolanaIntent, solanaApi } from "../../support/solanaApi.ts";
import { CLUSTER, MINT, OTHER_MINT, SOLANA_CHAIN_CONFIG, SOLANA_WALLET } from "../../support/solanaConfig.ts";
import { updateAccount } from "../../../src/merchant/updateAccount.ts";
import { addMs } from "../../../src/kernel/clock.ts";

type Origin = { chainId: number; token: { address: string }; depositIssuable: boolean };

/** Dates the last look at the cluster. */
async function setWatched(agoMs: number): Promise<void> {
  const { world } = await solanaApi();
  await setHead(world.db, SOLANA_CHAIN_CONFIG.caip2, { number: 1n });
  const change = { updated_at: addMs(world.clock.now(), -agoMs) };
  await world.db.root.updateTable("chain_cursor").set(change).where("chain", "=", SOLANA_CHAIN_CONFIG.caip2).execute();
}

async function originsOf(merchant: Merchant, intentId: string) {
  const { status, body } = await merchant.get(`/api/v1/intents/${intentId}/origins`);
  assert.equal(status, 200);
  const issuable = body.origins.filter(({ depositIssuable }: Origin) => depositIssuable);
  return { body, issuable: issuable.map(({ chainId, token }: Origin) => [chainId, token.address]) };
}

test("D27 D28 only the payout's own mint is issuable for a payout on Solana, while the cluster is watched", async () => {
  const merchant = await (await solanaApi()).openMerchant();
  const { intentId } = await createSolanaIntent(merchant);
  await setWatched(1_000);
  const { body, issuable } = await originsOf(merchant, intentId);
  assert.deepEqual(issuable, [[103, MINT]]);
  assert.deepEqual([body.origins[0].caip19, body.sourceDepositIssuable], [`solana:${CLUSTER}/token:${MINT}`, true]);
  const ids = body.origins.map(({ chainId, token }: Origin) => `${chainId} ${token.address}`);
  assert.ok(ids.includes(`103 ${OTHER_MINT}`));
  assert.ok(
    ids.some((id: string) => id.startsWith("31337 ")),
    "origins without a route are listed",
  );
  await setWatched(3_600_000);
  const unwatched = await originsOf(merchant, intentId);
  assert.deepEqual([unwatched.issuable, unwatched.body.sourceDepositIssuable], [[], false]);
});

test("D28 no origin on Solana is issuable for a payout on an EVM chain", async () => {
  const merchant = await (await solanaApi()).openMerchant();
  await setWatched(1_000);
  const { intentId } = await merchant.createIntent();
  const { body, issuable } = await originsOf(merchant, intentId);
  assert.deepEqual(
    issuable.filter(([chainId]: [number]) => chainId === 103),
    [],
  );
  assert.equal(body.origins.filter(({ chainId }: Origin) => chainId === 103).length, 2);
});

test("D27 the rails of Solana are listed, and one is the default of an account there", async () => {
  const { world, ...api } = await solanaApi();
  const merchant = await api.openMerchant();
  const payout = { namespace: "solana", chainReference: CLUSTER, wallet: SOLANA_WALLET, currency: "USDC" } as const;
  await updateAccount(world, { accountId: merchant.accountId, change: { payout } });
  const { intentId } = await merchant.createIntent();
  const { settleRails } = (await originsOf(merchant, intentId)).body;
  const defaults = settleRails.filter((rail: { default: boolean }) => rail.default);
  assert.deepEqual(defaults, [
    {
      id: "solana-devnet:usdc",
      namespace: "solana",
      reference: CLUSTER,
      chainId: 103,
      chainName: "Solana Devnet",
      token: { symbol: "USDC", address: MINT, decimals: 6 },
      explorerUrl: "https://explorer.solana.com",
      status: "live",
      default: true,
    },
  ]);
});
