import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, findTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { primeAccountsLoop } from "../../src/loops/primeAccountsLoop.ts";
import type { Json, TestApi } from "../support/api.ts";
import { openCheckout } from "../support/checkout.ts";
import { createLocalIntent, openLocalSolanaApi } from "../support/localSolanaApi.ts";
import { SOLANA_WALLET } from "../support/solanaConfig.ts";
import { startTestSolana } from "../support/solana.ts";

const mint = LOCAL_MINTS.USDC.address;
const { operator } = SOLANA_ACCOUNTS;

let solana: LocalSolana;
let api: TestApi;

before(async () => {
  solana = await startTestSolana({ name: "primed accounts" });
  api = await openLocalSolanaApi(solana);
  // The merchant's wallet has an account, as that of every merchant who was paid once.
  solana.control.send([operator], [createTokenAccount(operator.address, { owner: SOLANA_WALLET, mint })]);
  solana.control.finalize();
});

after(async () => api.server.close());

/** Runs the loops that a choice wakes. Returns whether the intent's inbox has a token account now. */
async function isCreated({ inboxAddress }: Json): Promise<boolean> {
  const [chain] = api.world.chains.values();
  assert.ok(chain);
  await primeAccountsLoop(api.world, chain).tick();
  await chain.sender.process(api.world);
  solana.control.nextSlot();
  solana.control.finalize();
  return solana.control.account(findTokenAccount({ owner: inboxAddress, mint })) !== undefined;
}

test("the API's source inbox of a Solana origin gets its token account", async () => {
  const merchant = await api.openMerchant();
  const intent = await createLocalIntent(merchant, solana);
  assert.equal(await isCreated(intent), false);
  const body = { namespace: "solana", reference: solana.reference, mint };
  const issued = await merchant.post(`/api/v1/intents/${intent.intentId}/source-inbox`, body);
  assert.equal(issued.status, 201);
  assert.equal(await isCreated(intent), true);
});

test("a view of the origin that the API reports creates the account, and one of all origins does not", async () => {
  const merchant = await api.openMerchant();
  const intent = await createLocalIntent(merchant, solana);
  const report = (body: object) => merchant.post(`/api/v1/intents/${intent.intentId}/view`, body);
  assert.equal((await report({})).status, 202);
  assert.equal(await isCreated(intent), false);
  const selection = { namespace: "solana", reference: solana.reference, tokenAddress: mint };
  assert.equal((await report({ selection })).status, 202);
  assert.equal(await isCreated(intent), true);
});

test("the checkout page creates the account when it shows the address", async () => {
  const intent = await createLocalIntent(await api.openMerchant(), solana);
  const checkout = await openCheckout(api, intent);
  const originId = `solana:${solana.reference}/token:${mint}`;
  const viewed = await checkout.post("view", { originId });
  assert.equal(viewed.status, 202, JSON.stringify(viewed.body));
  assert.equal(await isCreated(intent), true);
});
