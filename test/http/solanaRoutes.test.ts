import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { decodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { checksumAddress } from "@tributary/inbox/checksum";
import { termsFromWire } from "@tributary/inbox/wire";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { cctpMessenger, cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { verifySolanaInbox } from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { createKeypair } from "../../packages/local-solana/src/keypairs.ts";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { updateAccount } from "../../src/merchant/updateAccount.ts";
import { openTestApi, testApi, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { drawBytes } from "../support/drawBytes.ts";
import { bridgedChains } from "../support/bridgedConfig.ts";
import {
  CLUSTER,
  MINT,
  OTHER_MINT,
  SOLANA_CHAIN_CONFIG,
  SOLANA_PROGRAM,
  SOLANA_WALLET,
} from "../support/solanaConfig.ts";

// What an integrator sees of the way from Solana to a payout on an EVM chain.

const URL = "/api/v1/intents";
const SELECTOR = { namespace: "solana", reference: CLUSTER, mint: MINT };

let api: TestApi;
let merchant: Merchant;

before(async () => {
  const { world } = await testApi();
  const tokens = SOLANA_CHAIN_CONFIG.tokens.map((token) =>
    token.address === MINT ? { ...token, bridge: "cctp-v2" as const } : token,
  );
  const cctp = { domain: 5, messenger: cctpMessenger, transmitter: cctpTransmitter };
  const chains = [...bridgedChains(), { ...SOLANA_CHAIN_CONFIG, tokens, cctp }];
  const config = { ...world.config, chains };
  const bridge = { track: fail, renew: fail, fees: fail, close: async () => undefined };
  api = await openTestApi(world.db, { config, catalog: buildCatalog(config), bridge });
  merchant = await api.openMerchant();
});
after(() => api.server.close());

function fail(): never {
  throw new Error("the API asks the bridge for nothing");
}

const setRecovery = () =>
  updateAccount(api.world, { accountId: merchant.accountId, change: { solanaRecovery: SOLANA_WALLET } });

test("D42a without a recovery key on Solana an intent has no way from there, and later ones have", async () => {
  const before = await merchant.createIntent();
  assert.equal(before.inboxTerms.solanaRoutes, undefined);
  const refused = await merchant.post(`${URL}/${before.intentId}/source-inbox`, SELECTOR);
  assert.deepEqual([refused.status, refused.body.error.code], [503, "source_inbox_not_active"]);
  await setRecovery();
  const again = await merchant.post(`${URL}/${before.intentId}/source-inbox`, SELECTOR);
  assert.equal(again.status, 503, "what an intent pinned stays");
  const { inboxTerms } = await merchant.createIntent();
  assert.equal(inboxTerms.solanaRoutes.length, 1);
});

test("D42a create and read show the terms, the inbox follows from them, and only the mint that crosses has one", async () => {
  await setRecovery();
  const created = await merchant.createIntent();
  const { body: read } = await merchant.get(`${URL}/${created.intentId}`);
  assert.deepEqual(read.inboxTerms, created.inboxTerms);
  const [terms] = created.inboxTerms.solanaRoutes;
  const { body: issued } = await merchant.post(`${URL}/${created.intentId}/source-inbox`, SELECTOR);
  const { address, tokenAccount } = computeSolanaInbox(solanaTermsFromWire(terms), terms);
  assert.deepEqual(issued, {
    address,
    caip10: `solana:${CLUSTER}:${address}`,
    tokenAccount,
    mint: MINT,
    program: SOLANA_PROGRAM,
  });
  const repeated = await merchant.post(`${URL}/${created.intentId}/source-inbox`, SELECTOR);
  assert.deepEqual(repeated.body, issued);
  const expected = {
    kind: "hop",
    address,
    cluster: CLUSTER,
    program: SOLANA_PROGRAM,
    mint: MINT,
    recovery: SOLANA_WALLET,
    inboxAddress: created.inboxAddress,
    domain: 0,
    feePpmMax: 3_000,
  } as const;
  assert.deepEqual(verifySolanaInbox(terms, expected), { ok: true });
  const other = await merchant.post(`${URL}/${created.intentId}/source-inbox`, { ...SELECTOR, mint: OTHER_MINT });
  assert.deepEqual([other.status, other.body.error.code], [503, "source_inbox_not_active"]);
  const { body: list } = await merchant.get(URL);
  const listed = list.data.find((intent: Json) => intent.intentId === created.intentId);
  assert.equal(listed.inboxTerms.solanaRoutes, undefined);
});

test("D42a a payout on Solana has one inbox on all EVM chains, where the account has a recovery address there", async () => {
  const other = await api.openMerchant();
  const payout = {
    payoutNamespace: "solana",
    payoutChainReference: CLUSTER,
    payoutWallet: SOLANA_WALLET,
    payoutTokenAddress: MINT,
  };
  const create = async (reference: string) =>
    (
      await other.post(URL, {
        ...payout,
        payoutWallet: createKeypair(drawBytes(32)).address,
        merchantReference: reference,
      })
    ).body;
  const issue = ({ intentId }: Json, chainId: number) => other.post(`${URL}/${intentId}/source-inbox`, { chainId });
  const before = await create("without");
  assert.match(before.inboxTerms.routesRoot, /^0x0{64}$/);
  assert.equal((await issue(before, 31_338)).body.error.code, "source_inbox_not_active");
  const recovery = `0x${"7e".repeat(20)}`;
  await updateAccount(api.world, { accountId: other.accountId, change: { recovery } });
  assert.equal((await issue(before, 31_338)).status, 503, "what an intent pinned stays");
  const intent = await create("with");
  const { body: read } = await other.get(`${URL}/${intent.intentId}`);
  assert.deepEqual(read.inboxTerms, intent.inboxTerms);
  const address = checksumAddress(computeInboxAddress(termsFromWire(intent.inboxTerms)));
  for (const chainId of [31_338, 31_337, 31_338])
    assert.deepEqual((await issue(intent, chainId)).body, { address, caip10: `eip155:${chainId}:${address}` });
  assert.equal(intent.inboxTerms.recovery.toLowerCase(), recovery);
  const { body: list } = await other.get(URL);
  const listed = list.data.find((each: Json) => each.intentId === intent.intentId);
  const { routes, ...withoutRoutes } = intent.inboxTerms;
  assert.deepEqual(listed.inboxTerms, withoutRoutes);
  const recipients = routes.map(({ config }: Json) => decodeCctpV2Config(config).recipient);
  assert.deepEqual(new Set(recipients), new Set([toMessageAccount(intent.tokenAccount)]));
});
