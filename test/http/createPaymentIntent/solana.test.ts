import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { encodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { expectSolanaPayout, verifySolanaInbox } from "@tributary/inbox/solana/verify";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { zeroAddress } from "@tributary/inbox/terms";
import { verifyInbox } from "@tributary/inbox/verify";
import { termsFromWire } from "@tributary/inbox/wire";
import { intentChecks } from "../../../src/intent/checks.ts";
import { runChecks } from "../../../src/ledger/check.ts";
import { createAccount } from "../../../src/merchant/createAccount.ts";
import { createKey } from "../../../src/merchant/keys/createKey.ts";
import { DEFAULT_SCOPES } from "../../../src/merchant/keys/scopes.ts";
import { updateAccount, type AccountChange } from "../../../src/merchant/updateAccount.ts";
import { assertFault, type Merchant } from "../../support/api.ts";
import { createSolanaIntent, ON_SOLANA, solanaApi } from "../../support/solanaApi.ts";
import {
  CLUSTER,
  MINT,
  OTHER_MINT,
  SOLANA_FEE_PAYER,
  SOLANA_FEE_WALLET,
  SOLANA_PROGRAM,
  SOLANA_WALLET,
} from "../../support/solanaConfig.ts";

const URL = "/api/v1/intents";
const EVM_WALLET = `0x${"ce".repeat(20)}`;
const FEE_ACCOUNT = deriveTokenAccount(SOLANA_FEE_WALLET, MINT, tokenProgram).address;
const recoveryKey = newWallet();

function newWallet(): string {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return encodeKey(new Uint8Array(Buffer.from(x, "base64url")));
}

async function openMerchant(feeBps = 0): Promise<Merchant> {
  const api = await solanaApi();
  const merchant = await api.openMerchant();
  await updateAccount(api.world, { accountId: merchant.accountId, change: { feeBps } });
  return merchant;
}

test("D53 a key bound to Solana mints for the account's default destination there", async () => {
  const api = await solanaApi();
  const merchant = await openMerchant();
  const { accountId } = merchant;
  const bind = { accountId, scopes: DEFAULT_SCOPES, defaultNamespace: "solana" } as const;
  await assert.rejects(createKey(api.world, bind), /no default destination on Solana/);
  await updateAccount(api.world, {
    accountId,
    change: { solanaDefault: { chainReference: CLUSTER, wallet: SOLANA_WALLET } },
  });
  const { apiKey } = await createKey(api.world, bind);
  const headers = { authorization: `Bearer ${apiKey}` };
  const first = await merchant.post(URL, { priceUnits: 25_000_000 }, headers);
  assert.equal(first.status, 201, first.text);
  assert.equal(first.body.payout.caip10, `solana:${CLUSTER}:${SOLANA_WALLET}`);
  const second = await merchant.post(URL, { priceUnits: 25_000_000 }, headers);
  assert.notEqual(second.body.intentId, first.body.intentId, "a create without a destination always mints");
  assert.equal(
    (await merchant.post(URL, { priceUnits: 25_000_000 })).body.payout.namespace,
    "eip155",
    "the other key's default",
  );
});

test("D53 where the account's own default is on Solana, a key is bound to one on an EVM chain; a namespace has one default", async () => {
  const api = await solanaApi();
  const merchant = await openMerchant();
  const { accountId } = merchant;
  const update = (change: AccountChange) => updateAccount(api.world, { accountId, change });
  const { payout: own } = await merchant.createIntent();
  const evm = { chainReference: own.chainReference, wallet: own.wallet };
  const solana = { chainReference: CLUSTER, wallet: SOLANA_WALLET };
  const bind = { accountId, scopes: DEFAULT_SCOPES, defaultNamespace: "eip155" } as const;
  const keyOnOwn = await createKey(api.world, bind);
  await assert.rejects(update({ evmDefault: evm }), /has one default there/);
  const payout = { namespace: "solana", ...solana, currency: "USDC" } as const;
  await update({ solanaDefault: solana });
  await assert.rejects(update({ payout }), /has one default there/);
  await update({ payout, solanaDefault: null, evmDefault: { ...evm, wallet: EVM_WALLET } });
  const keyOnOther = await createKey(api.world, bind);
  for (const { apiKey } of [keyOnOwn, keyOnOther]) {
    const headers = { authorization: `Bearer ${apiKey}` };
    const first = await merchant.post(URL, { priceUnits: 25_000_000 }, headers);
    assert.equal(first.status, 201, first.text);
    assert.deepEqual(
      [first.body.payout.namespace, first.body.payout.wallet.toLowerCase(), first.body.payout.chainReference],
      ["eip155", EVM_WALLET, own.chainReference],
    );
    const second = await merchant.post(URL, { priceUnits: 25_000_000 }, headers);
    assert.notEqual(second.body.intentId, first.body.intentId, "a create without a destination always mints");
  }
  assert.equal((await merchant.createIntent()).payout.namespace, "solana", "the other key's default");
  const { evmPayout, solanaPayout } = (await merchant.get("/api/v1/account")).body;
  assert.deepEqual(
    [evmPayout.chain, evmPayout.wallet.toLowerCase(), solanaPayout],
    [`eip155:${own.chainReference}`, EVM_WALLET, null],
  );
  await update({ evmDefault: null });
  const lost = await merchant.post(URL, { priceUnits: 1 }, { authorization: `Bearer ${keyOnOther.apiKey}` });
  assertFault(lost, 400, "destination_required");
});

test("D42 an intent that is paid on Solana shows the address, the token account, the mint and the program", async () => {
  const merchant = await openMerchant(50);
  const intent = await createSolanaIntent(merchant, { priceUnits: 25_000_000, oneTime: true });
  const { tokenAccount } = computeSolanaInbox(solanaTermsFromWire(intent.inboxTerms.solana), {
    program: SOLANA_PROGRAM,
    tokenProgram,
  });
  assert.deepEqual([intent.mint, intent.program, intent.tokenAccount], [MINT, SOLANA_PROGRAM, tokenAccount]);
  assert.deepEqual(intent.payout, {
    namespace: "solana",
    chainReference: CLUSTER,
    wallet: SOLANA_WALLET,
    tokenAddress: MINT,
    decimals: 6,
    railId: "solana-devnet:usdc",
    caip10: `solana:${CLUSTER}:${SOLANA_WALLET}`,
    caip19: `solana:${CLUSTER}/token:${MINT}`,
  });
  const { inboxTerms: _terms, widgetToken: _token, created, ...shown } = intent;
  assert.equal(created, true);
  const { inboxTerms, created: _created, ...read } = (await merchant.get(`${URL}/${intent.intentId}`)).body;
  assert.deepEqual(read, shown);
  assert.deepEqual(inboxTerms.solana, intent.inboxTerms.solana);
  const [listed] = (await merchant.get(URL)).body.data;
  assert.deepEqual([listed.inboxAddress, listed.tokenAccount], [intent.inboxAddress, tokenAccount]);
});

test("D42 the inbox follows from its terms, which pin wallet, fee account, rent recipient and recovery", async () => {
  const { inboxAddress, tokenAccount, inboxTerms } = await createSolanaIntent(await openMerchant(50));
  const { salt, recoverAfter, version, ...terms } = inboxTerms.solana;
  assert.deepEqual([version, salt, recoverAfter], [1, inboxTerms.salt, inboxTerms.recoverAfter]);
  assert.deepEqual(terms, {
    kind: "pay",
    program: SOLANA_PROGRAM,
    tokenProgram,
    mint: MINT,
    payout: SOLANA_WALLET,
    feeAccount: FEE_ACCOUNT,
    feeBps: 50,
    rentRecipient: SOLANA_FEE_PAYER,
    recovery: SOLANA_WALLET,
  });
  const expected = {
    kind: "pay",
    address: inboxAddress,
    tokenAccount,
    cluster: CLUSTER,
    program: SOLANA_PROGRAM,
    mint: MINT,
    payoutWallet: SOLANA_WALLET,
    feeBpsMax: 50,
    feeAccount: FEE_ACCOUNT,
  } as const;
  assert.deepEqual(verifySolanaInbox(inboxTerms.solana, expected), { ok: true });
  assert.equal(verifySolanaInbox(inboxTerms.solana, { ...expected, feeBpsMax: 49 }).ok, false);
  const onEvm = {
    inboxAddress: computeInboxAddress(termsFromWire(inboxTerms)),
    payoutWallet: zeroAddress,
    token: zeroAddress,
    chainId: 0,
    feeBpsMax: 0,
    solana: expectSolanaPayout(expected),
  };
  assert.deepEqual(verifyInbox(inboxTerms, onEvm), { ok: true });
  const otherWallet = expectSolanaPayout({ ...expected, payoutWallet: newWallet() });
  assert.deepEqual(verifyInbox(inboxTerms, { ...onEvm, solana: otherWallet }), {
    ok: false,
    reason: "wrong_solana_inbox",
  });
});

test("D42 recovery is the account's own key on Solana, else the payout wallet, beside its EVM address", async () => {
  const { world } = await solanaApi();
  const merchant = await openMerchant();
  const evmRecovery = `0x${"ab".repeat(20)}`;
  const change = { recovery: evmRecovery, solanaRecovery: recoveryKey };
  await updateAccount(world, { accountId: merchant.accountId, change });
  const onSolana = await createSolanaIntent(merchant);
  assert.deepEqual([onSolana.inboxTerms.solana.recovery, onSolana.inboxTerms.recovery], [recoveryKey, zeroAddress]);
  const onEvm = await merchant.createIntent();
  assert.equal(onEvm.inboxTerms.recovery.toLowerCase(), evmRecovery);
  assert.equal((await merchant.get("/api/v1/account")).body.solanaRecovery, recoveryKey);
  await updateAccount(world, { accountId: merchant.accountId, change: { solanaRecovery: null } });
  const later = await createSolanaIntent(merchant, { priceUnits: 1, payoutTokenAddress: OTHER_MINT });
  assert.equal(later.inboxTerms.solana.recovery, SOLANA_WALLET);
  for (const solanaRecovery of [evmRecovery, MINT, FEE_ACCOUNT, "1".repeat(32), SOLANA_PROGRAM])
    await assert.rejects(updateAccount(world, { accountId: merchant.accountId, change: { solanaRecovery } }), {
      code: "invalid_request",
      param: "solanaRecovery",
    });
});

test("D18 a destination on Solana has one active intent for each wallet and mint, byte for byte", async () => {
  const merchant = await openMerchant();
  const first = await createSolanaIntent(merchant);
  const again = await createSolanaIntent(merchant);
  assert.deepEqual([again.intentId, again.created, again.inboxAddress], [first.intentId, false, first.inboxAddress]);
  assert.notEqual(again.widgetToken, first.widgetToken);
  const otherMint = await createSolanaIntent(merchant, { payoutTokenAddress: OTHER_MINT });
  const otherWallet = await createSolanaIntent(merchant, { payoutWallet: newWallet() });
  assert.equal(new Set([first, otherMint, otherWallet].map(({ inboxAddress }) => inboxAddress)).size, 3);
  const body = { ...ON_SOLANA, payoutWallet: SOLANA_WALLET, priceUnits: 5 };
  assertFault(await merchant.post(URL, body), 409, "destination_conflict");
  const inLowerCase = await merchant.post(URL, { ...ON_SOLANA, payoutWallet: SOLANA_WALLET.toLowerCase() });
  assert.notEqual(inLowerCase.body.intentId, first.intentId);
});

test("D11 a wallet on Solana that cannot be paid is refused: inboxes, the fee payer, the program, mints", async () => {
  const merchant = await openMerchant();
  const { inboxAddress, tokenAccount } = await createSolanaIntent(merchant);
  for (const payoutWallet of [inboxAddress, tokenAccount, SOLANA_FEE_PAYER, SOLANA_PROGRAM, MINT, FEE_ACCOUNT])
    assertFault(await merchant.post(URL, { ...ON_SOLANA, payoutWallet }), 400, "unsupported_destination");
  const payoutTokenAddress = SOLANA_WALLET;
  const noRail = await merchant.post(URL, { ...ON_SOLANA, payoutWallet: SOLANA_WALLET, payoutTokenAddress });
  assert.equal(assertFault(noRail, 400, "unsupported_destination").param, "payoutTokenAddress");
  assertFault(await merchant.post(URL, ON_SOLANA), 400, "wallet_required");
});

test("D11 an account's default destination may be on Solana", async () => {
  const { world } = await solanaApi();
  const merchant = await openMerchant();
  const payout = { namespace: "solana", chainReference: CLUSTER, wallet: SOLANA_WALLET, currency: "EURC" } as const;
  await updateAccount(world, { accountId: merchant.accountId, change: { payout } });
  const inherited = await merchant.createIntent();
  assert.deepEqual([inherited.payout.wallet, inherited.mint], [SOLANA_WALLET, OTHER_MINT]);
  const second = await merchant.createIntent();
  assert.notEqual(second.inboxAddress, inherited.inboxAddress, "no destination was named");
  for (const wallet of [SOLANA_FEE_PAYER, SOLANA_PROGRAM, MINT, inherited.inboxAddress])
    await assert.rejects(createAccount(world, { name: "X", payout: { ...payout, wallet } }), {
      param: "payout.wallet",
    });
});

test("the inbox of a payout on Solana belongs to its cluster and mint, and the pins hold", async () => {
  const { world } = await solanaApi();
  const { intentId, inboxAddress } = await createSolanaIntent(await openMerchant());
  const { root } = world.db;
  const rows = await root.selectFrom("inbox").selectAll().where("intent_id", "=", intentId).execute();
  assert.deepEqual(
    rows.map(({ namespace, reference, address, kind, token }) => [namespace, reference, address, kind, token]),
    [["solana", CLUSTER, inboxAddress, "deposit", MINT]],
  );
  const row = await root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirstOrThrow();
  assert.deepEqual(
    [row.fee_recipient, row.rent_recipient, row.inbox_hub, row.inbox_implementation, row.route_set],
    [SOLANA_FEE_WALLET, SOLANA_FEE_PAYER, SOLANA_PROGRAM, tokenProgram, null],
  );
  const change = root.updateTable("intent").set({ rent_recipient: SOLANA_WALLET }).where("id", "=", intentId);
  await assert.rejects(change.execute(), /cannot change/);
  // Other tests of the shared database leave rows that no service writes.
  const violations = await runChecks(world.db, intentChecks);
  const own = violations.flatMap(({ check, rows: found }) =>
    found.filter(({ intent }) => intent === intentId).map(() => check),
  );
  assert.deepEqual(own, []);
});
