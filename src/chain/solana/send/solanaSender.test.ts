import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { buildSettle } from "@tributary/inbox/solana/instructions";
import { pino } from "pino";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount } from "../../../../packages/local-solana/src/instructions.ts";
import type { Db } from "../../../db/database.ts";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { inboxTerms } from "../../../../test/conformance/inboxTerms.ts";
import { createWallet, payTokens } from "../../../../test/support/solana.ts";
import { openSenderScene, type FalseAnswer, type SceneOptions } from "../../../../test/support/solanaSender.ts";
import { ProviderFailed } from "../../reader.ts";
import { SettleRefused } from "../../sender.ts";
import { settleCall } from "../../evm/send/settleCall.ts";

const log = pino({ level: "silent" });
const usdcOf = (owner: string) => deriveTokenAccount(owner, LOCAL_MINTS.USDC.address, LOCAL_MINTS.USDC.program).address;
const { feeRecipient, stranger } = SOLANA_ACCOUNTS;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

const openScene = (options: Partial<SceneOptions> = {}) => openSenderScene({ db, log, ...options });

test("a settlement creates the missing payout account, pays payout and fee, and closes the inbox's token account", async () => {
  const { sender, solana, paidItem, store, settle, statusOf, unitsOf, payer } = await openScene();
  const item = paidItem(1_999n);
  const before = solana.control.account(payer.address)?.lamports ?? 0n;
  const id = await store([item]);
  await settle();
  assert.equal(await statusOf(id), "mined");
  assert.deepEqual([unitsOf(item.terms.payout), unitsOf(feeRecipient.address)], [1_990n, 9n]);
  assert.equal(solana.control.account(usdcOf(item.inbox)), undefined);
  // The rent of the closed account pays for the payout account; the rest are fees.
  const spent = before - (await sender.feeBalance());
  assert.ok(spent > 5_000n && spent < 7_000n, `${spent}`);
});

test("the operator gains the payer's rent on a settled deposit whose payout account exists", async () => {
  const { sender, solana, paidItem, store, settle, payer } = await openScene();
  const { address: payout } = createWallet(solana, 0n);
  payTokens(solana, { to: payout, units: 1n });
  const item = paidItem(5_000n, { payout });
  const before = solana.control.account(payer.address)?.lamports ?? 0n;
  await store([item]);
  await settle();
  const gained = (await sender.feeBalance()) - before;
  assert.ok(gained > 1_480_000n, `${gained}`);
});

test("eight inboxes of the same terms settle in one transaction, and no ninth fits", async () => {
  const { sender, solana, newItem, paidItem, store, settle, statusOf, unitsOf } = await openScene();
  const { address: payout } = createWallet(solana, 0n);
  payTokens(solana, { to: payout, units: 1n });
  const items = Array.from({ length: 9 }, (_, index) => paidItem(1_000n * BigInt(index + 1), { payout }));
  assert.equal(new Set(sender.batchKeys([...items, newItem({ payout })])).size, 1);
  assert.equal(new Set(sender.batchKeys([...items, newItem()])).size, 2);
  await assert.rejects(store(items), { name: "SettleRefused", message: /bytes; the maximum is 1232$/ });
  assert.deepEqual(await sender.refusals(items), Array(9).fill(undefined));
  const id = await store(items.slice(0, 8));
  await settle();
  assert.equal(await statusOf(id), "mined");
  assert.equal(unitsOf(payout), 1n + 36_000n - 180n);
});

test("a Token-2022 mint settles as one of the older program does", async () => {
  const { solana, paidItem, store, settle, statusOf, unitsOf } = await openScene();
  const { address: mint, program: tokenProgram } = LOCAL_MINTS.DUSD;
  const item = paidItem(20_000n, { mint, tokenProgram });
  const id = await store([item]);
  await settle();
  assert.equal(await statusOf(id), "mined");
  // The fee wallet had no account of this mint either.
  assert.deepEqual(
    [item.terms.payout, feeRecipient.address].map((owner) => unitsOf(owner, LOCAL_MINTS.DUSD)),
    [19_900n, 100n],
  );
  assert.equal(solana.control.account(item.inbox), undefined);
});

test("a frozen payout account, a frozen inbox and a missing mint are refused alone; an empty inbox is not", async () => {
  const { sender, solana, newItem, paidItem, store } = await openScene();
  const { control } = solana;
  const frozenPayout = paidItem(300n);
  payTokens(solana, { to: frozenPayout.terms.payout, units: 1n });
  control.setFrozen(usdcOf(frozenPayout.terms.payout), true);
  const { address: payout } = createWallet(solana, 0n);
  const [good, frozenInbox, empty] = [paidItem(300n, { payout }), paidItem(300n, { payout }), newItem({ payout })];
  control.setFrozen(usdcOf(frozenInbox.inbox), true);
  const noMint = newItem({ mint: createWallet(solana, 0n).address });
  control.confirm();
  const [first, second, third, fourth, fifth] = await sender.refusals([good, frozenPayout, frozenInbox, empty, noMint]);
  assert.deepEqual([first, fourth], [undefined, undefined]);
  assert.deepEqual([second, third], ["settle_refused PAYOUT", "settle_refused FROZEN"]);
  assert.match(fifth ?? "", /^settle_refused ./);
  for (const item of [frozenPayout, frozenInbox, empty]) await assert.rejects(store([item]), SettleRefused);
  control.setFrozen(usdcOf(frozenPayout.terms.payout), false);
  control.setFrozen(usdcOf(frozenInbox.inbox), false);
  control.confirm();
  assert.deepEqual(await sender.refusals([frozenPayout, frozenInbox]), [undefined, undefined]);
});

test("a frozen fee account and one that is not the fee wallet's forfeit the fee and stop no payout", async () => {
  const { solana, paidItem, store, settle, statusOf, unitsOf } = await openScene();
  solana.control.setFrozen(usdcOf(feeRecipient.address), true);
  const frozen = paidItem(1_000n);
  const foreign = paidItem(1_000n, { feeAccount: usdcOf(createWallet(solana, 0n).address) });
  const ids = [await store([frozen]), await store([foreign])];
  await settle();
  assert.deepEqual([await statusOf(ids[0] ?? 0n), await statusOf(ids[1] ?? 0n)], ["mined", "mined"]);
  assert.deepEqual([unitsOf(frozen.terms.payout), unitsOf(foreign.terms.payout)], [1_000n, 1_000n]);
});

test("the fee wallet's account is created when it is missing", async () => {
  const { solana, paidItem, store, settle, unitsOf } = await openScene();
  const item = paidItem(1_000n);
  solana.control.setAccount(usdcOf(feeRecipient.address), undefined);
  solana.control.confirm();
  await store([item]);
  await settle();
  assert.deepEqual([unitsOf(item.terms.payout), unitsOf(feeRecipient.address)], [995n, 5n]);
});

test("when a stranger settles first, the stored settlement moves nothing and returns the rent", async () => {
  const { sender, solana, world, paidItem, store, settle, statusOf, unitsOf, payer } = await openScene();
  const item = paidItem(1_000n);
  const id = await store([item]);
  const inbox = computeSolanaInbox(item.terms, { program: item.hub, tokenProgram: LOCAL_MINTS.USDC.program });
  const createPayout = createTokenAccount(stranger.address, { owner: item.terms.payout, mint: item.token });
  solana.control.send([stranger], [createPayout, buildSettle([inbox])]);
  assert.equal(unitsOf(item.terms.payout), 995n);
  const before = solana.control.account(payer.address)?.lamports ?? 0n;
  await settle();
  assert.equal(await statusOf(id), "mined");
  assert.equal(unitsOf(item.terms.payout), 995n);
  assert.ok((await sender.feeBalance()) - before > 1_480_000n);
  // A second settlement of ours finds the account closed. It fails whole, and is closed too.
  const again = paidItem(2_000n, { payout: item.terms.payout });
  const ids = [await store([again]), await store([again])];
  await settle();
  assert.deepEqual([await statusOf(ids[0] ?? 0n), await statusOf(ids[1] ?? 0n)], ["mined", "reverted"]);
  assert.equal(unitsOf(item.terms.payout), 995n + 1_990n);
  assert.equal(
    (await world.db.root.selectFrom("outgoing_transaction").select("id").where("status", "=", "signed").execute())
      .length,
    0,
  );
});

test("a settlement that a fork drops is broadcast again and settles once", async () => {
  const { sender, solana, world, paidItem, store, settle, statusOf, unitsOf } = await openScene({ finalizedAfter: 8 });
  const item = paidItem(800n);
  solana.control.nextSlot(2);
  const id = await store([item]);
  await sender.process(world);
  assert.equal(unitsOf(item.inbox), 0n);
  assert.equal(solana.control.fork(1).length, 1);
  assert.equal(unitsOf(item.inbox), 800n);
  await sender.process(world);
  await sender.process(world);
  await settle();
  assert.equal(await statusOf(id), "mined");
  assert.equal(unitsOf(item.terms.payout), 796n);
});

test("a transaction stays open until the finalized block is past its last one, and then counts as lost", async () => {
  const { sender, solana, world, paidItem, store, settle, statusOf, unitsOf, context } = await openScene();
  const item = paidItem(1_000n);
  solana.control.setLanding("drop");
  const id = await store([item]);
  solana.control.nextSlot(151);
  await sender.process(world);
  assert.equal(await statusOf(id), "signed", "the blockhash is too old, but the last valid block is not final");
  solana.control.nextSlot(10);
  await sender.process(world);
  assert.equal(await statusOf(id), "lost");
  assert.equal(context.feeCeiling.expiredInRow, 1);
  solana.control.setLanding("now");
  const next = await store([item]);
  await settle();
  assert.equal(await statusOf(next), "mined");
  assert.equal(unitsOf(item.terms.payout), 995n);
  assert.equal(context.feeCeiling.expiredInRow, 0);
});

test("a landing that one provider does not see is no expiry, however high the block it claims", async () => {
  let isBlind = false;
  const blind: FalseAnswer = (method) => {
    if (!isBlind) return undefined;
    if (method === "getSignatureStatuses") return Promise.resolve({ value: [null] });
    return method === "getBlockHeight" ? Promise.resolve(1_000_000) : undefined;
  };
  const { sender, solana, world, paidItem, store, statusOf, unitsOf } = await openScene({
    providers: [blind, undefined],
  });
  const item = paidItem(1_000n);
  solana.control.setLanding("hold");
  const id = await store([item]);
  await sender.process(world);
  isBlind = true;
  await sender.process(world);
  assert.equal(await statusOf(id), "signed", "one provider's height is not enough");
  solana.control.release();
  solana.control.finalize();
  solana.control.nextSlot();
  await sender.process(world);
  assert.equal(await statusOf(id), "mined", "the other provider knows the transaction");
  assert.equal(unitsOf(item.terms.payout), 995n);
});

test("a status counts once its provider calls it final, in a block that is final for the others", async () => {
  let status: object = { slot: 1, err: null, confirmationStatus: "confirmed" };
  const claiming: FalseAnswer = (method) =>
    method === "getSignatureStatuses" ? Promise.resolve({ value: [status] }) : undefined;
  const { sender, world, paidItem, store, statusOf } = await openScene({ providers: [claiming] });
  const id = await store([paidItem(1_000n)]);
  await sender.process(world);
  assert.equal(await statusOf(id), "signed", "a fork may drop the transaction");
  status = { slot: 1_000_000, err: null, confirmationStatus: "finalized" };
  await sender.process(world);
  assert.equal(await statusOf(id), "signed", "no block that high is final");
  status = { slot: 1, err: { InstructionError: [2, { Custom: 0x106 }] }, confirmationStatus: "finalized" };
  await sender.process(world);
  assert.equal(await statusOf(id), "reverted");
});

test("an expiry waits for a second provider while one of two does not answer", async () => {
  let isDown = false;
  const down: FalseAnswer = () => (isDown ? Promise.reject(new ProviderFailed("unreachable", "down")) : undefined);
  const { sender, solana, world, paidItem, store, statusOf } = await openScene({ providers: [undefined, down] });
  solana.control.setLanding("drop");
  const id = await store([paidItem(1_000n)]);
  solana.control.expireBlockhashes();
  solana.control.finalize();
  isDown = true;
  await sender.process(world);
  assert.equal(await statusOf(id), "signed");
  isDown = false;
  await sender.process(world);
  assert.equal(await statusOf(id), "lost");
});

test("one provider's refusal, fee and blockhash do not count where another differs", async () => {
  const lies: FalseAnswer = async (method) => {
    if (method === "simulateTransaction") return { value: { err: { InstructionError: [2, { Custom: 0x108 }] } } };
    if (method === "getRecentPrioritizationFees") return [{ slot: 1, prioritizationFee: 10 ** 12 }];
    return { value: { blockhash: LOCAL_MINTS.EURC.address, lastValidBlockHeight: 10 ** 12 } };
  };
  const liar: FalseAnswer = (method, params) =>
    /^(?:simulateTransaction|getRecentPrioritizationFees|getLatestBlockhash)$/.test(method)
      ? lies(method, params)
      : undefined;
  for (const providers of [
    [liar, undefined],
    [undefined, liar],
  ]) {
    const { sender, world, paidItem, store, settle, statusOf, unitsOf } = await openScene({ providers });
    const item = paidItem(1_000n);
    assert.ok(await sender.isWithinFeeCeiling(world));
    assert.deepEqual(await sender.refusals([item]), [undefined]);
    const id = await store([item]);
    await settle();
    assert.equal(await statusOf(id), "mined");
    assert.equal(unitsOf(item.terms.payout), 995n);
  }
});

test("a blockhash that no other provider knows is not used, however early it expires", async () => {
  const early: FalseAnswer = (method) =>
    method === "getLatestBlockhash"
      ? Promise.resolve({ value: { blockhash: LOCAL_MINTS.EURC.address, lastValidBlockHeight: 1 } })
      : undefined;
  const { paidItem, store, settle, statusOf } = await openScene({ providers: [early, undefined] });
  const id = await store([paidItem(1_000n)]);
  await settle();
  assert.equal(await statusOf(id), "mined");
});

test("a payer without lamports is no refusal of the inbox: the settlement waits for funds", async () => {
  const { sender, solana, paidItem, store, payer } = await openScene();
  const item = paidItem(1_000n);
  solana.control.setAccount(payer.address, undefined);
  solana.control.confirm();
  await assert.rejects(sender.refusals([item]), { message: /^the fee payer \w+ has too few lamports/ });
  solana.control.airdrop(payer.address, 1_000_000n);
  solana.control.confirm();
  await assert.rejects(store([item]), { message: /^the fee payer \w+ has too few lamports/ });
});

test("items of another program, or whose terms give another address, are refused alone", async () => {
  const { sender, solana, newItem, paidItem, store } = await openScene();
  const item = paidItem(1_000n);
  const other = newItem({ payout: item.terms.payout });
  const { address } = createWallet(solana, 0n);
  assert.deepEqual(await sender.refusals([item, { ...other, hub: address }, { ...other, inbox: address }]), [
    undefined,
    `settle_refused the inbox belongs to the program ${address}`,
    `settle_refused the terms give the inbox ${other.inbox}`,
  ]);
  await assert.rejects(store([{ ...item, inbox: address }]), SettleRefused);
});

test("terms of an EVM inbox are no item of this sender, and the other way round", async () => {
  const { sender, newItem } = await openScene();
  assert.throws(
    () => sender.batchKeys([{ ...newItem(), terms: inboxTerms(1, { salt: 1, token: "0x", payout: "0x" }) }]),
    {
      message: /are not those of a Solana inbox$/,
    },
  );
  assert.throws(() => settleCall([newItem()]), { message: /are not those of an EVM chain$/ });
});

test("the database refuses an attempt that both expires and offers fees of an EVM chain", async () => {
  const { paidItem, store } = await openScene();
  const id = await store([paidItem(1_000n)]);
  const change = (values: object) =>
    db.root.updateTable("outgoing_attempt").set(values).where("outgoing_id", "=", id).execute();
  await assert.rejects(change({ max_fee_per_gas: 1n, max_priority_fee_per_gas: 1n }), /check constraint/);
  await assert.rejects(change({ last_valid_height: -1n }), /check constraint/);
});
