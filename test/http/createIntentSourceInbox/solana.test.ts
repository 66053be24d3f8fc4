import assert from "node:assert/strict";
import { test } from "node:test";
import { listEventsOf } from "../../support/events.ts";
import { assertFault } from "../../support/api.ts";
import { createSolanaIntent, solanaApi } from "../../support/solanaApi.ts";
import { CLUSTER, MINT, OTHER_MINT, SOLANA_PROGRAM } from "../../support/solanaConfig.ts";

const SELECTOR = { namespace: "solana", reference: CLUSTER, mint: MINT };

test("D29 D42 the intent's own inbox is issued for its own cluster and mint, with its token account", async () => {
  const api = await solanaApi();
  const merchant = await api.openMerchant();
  const { intentId, inboxAddress, tokenAccount } = await createSolanaIntent(merchant);
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  const first = await merchant.post(url, SELECTOR);
  assert.deepEqual(
    [first.status, first.body],
    [
      201,
      {
        address: inboxAddress,
        caip10: `solana:${CLUSTER}:${inboxAddress}`,
        tokenAccount,
        mint: MINT,
        program: SOLANA_PROGRAM,
      },
    ],
  );
  assert.deepEqual((await merchant.post(url, SELECTOR)).body, first.body);
  const events = await listEventsOf(api.world.db, intentId);
  assert.deepEqual(
    events.flatMap(({ type, data }) => (type === "source_inbox.issued" ? [data] : [])),
    [{ object: { object: "source_inbox", intentId, ...first.body }, previous: null }],
  );
});

test("D29 no route leads from another mint or an EVM chain to a payout on Solana, nor the other way round", async () => {
  const merchant = await (await solanaApi()).openMerchant();
  const { intentId } = await createSolanaIntent(merchant);
  const url = `/api/v1/intents/${intentId}/source-inbox`;
  for (const selector of [{ ...SELECTOR, mint: OTHER_MINT }, { chainId: 31337 }])
    assert.equal(
      assertFault(await merchant.post(url, selector), 503, "source_inbox_not_active").retry_after,
      undefined,
    );
  const unknown = [
    [{ ...SELECTOR, mint: SOLANA_PROGRAM }, "mint"],
    [{ ...SELECTOR, mint: MINT.toLowerCase() }, "mint"],
    [{ ...SELECTOR, reference: CLUSTER.toLowerCase() }, "reference"],
    [{ chainId: 103 }, "chainId"],
  ] as const;
  for (const [selector, param] of unknown)
    assert.equal(assertFault(await merchant.post(url, selector), 400, "unsupported_origin").param, param);
  const onEvm = await merchant.createIntent();
  assertFault(
    await merchant.post(`/api/v1/intents/${onEvm.intentId}/source-inbox`, SELECTOR),
    503,
    "source_inbox_not_active",
  );
});
