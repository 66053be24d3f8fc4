import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSettle, writableMeta, readonlyMeta, signerMeta } from "@tributary/inbox/solana/instructions";
import { noKey } from "@tributary/inbox/solana/keys";
import { lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import { assertRefused, errorCode, withAccount, withData } from "./support/refusals.ts";
import { FEE_BPS, Scene } from "./support/scene.ts";
import {
  associated,
  AUTHORITY_OWNER,
  createAssociated,
  createAuxiliary,
  fund,
  sendLamports,
  setAuthority,
  setFrozen,
  transferTokens,
} from "./support/tokens.ts";

const scene = new Scene();
const { world, operator, merchant, stranger, thief, payer, mint, payoutAccount, feeAccount } = scene;

const settleAndClose = (...inboxes: ReturnType<typeof scene.pay>[]) => buildSettle(inboxes, { rentRecipient: true });

test("the whole balance goes to the payout wallet, less the floor of the fee, and the rent goes to the operator", () => {
  const inbox = scene.paid(100_000_001n);
  const before = {
    payout: world.units(payoutAccount),
    fee: world.units(feeAccount),
    rent: world.lamports(operator.address),
  };
  const rent = world.lamports(inbox.tokenAccount);
  world.must([operator], [settleAndClose(inbox)]);
  assert.equal(world.units(payoutAccount) - before.payout, 99_500_001n);
  assert.equal(world.units(feeAccount) - before.fee, 500_000n);
  assert.equal(world.exists(inbox.tokenAccount), false);
  assert.equal(world.lamports(operator.address) - before.rent, rent - 5_000n);
});

test("a deposit to a closed account is settled to the same wallet", () => {
  const inbox = scene.paid(10n);
  world.must([operator], [settleAndClose(inbox)]);
  scene.deposit(inbox, 7n);
  const before = world.units(payoutAccount);
  world.must([operator], [settleAndClose(inbox)]);
  assert.equal(world.units(payoutAccount) - before, 7n);
});

test("a payout account can be created in the same transaction", () => {
  const fresh = world.createWallet(0n);
  const inbox = scene.paid(1_000_000n, { payout: fresh.address });
  world.must([operator], [createAssociated(operator, fresh.address, { mint }), settleAndClose(inbox)]);
  assert.equal(world.units(associated(fresh.address, mint)), 995_000n);
});

test("a stranger settles, and closes nothing", () => {
  const inbox = scene.paid(1_000_000n);
  const before = world.units(payoutAccount);
  world.must([stranger], [buildSettle([inbox])]);
  assert.equal(world.units(payoutAccount) - before, 995_000n);
  assert.ok(world.exists(inbox.tokenAccount));
  world.must([stranger], [buildSettle([inbox])]);
  world.must([stranger], [withAccount(buildSettle([inbox]), 4, writableMeta(operator.address))]);
  assert.equal(world.units(payoutAccount) - before, 995_000n);
});

test("an operator that signs read-only closes nothing", () => {
  const inbox = scene.paid(5n);
  world.must([stranger, operator], [withAccount(buildSettle([inbox]), 4, signerMeta(operator.address))]);
  assert.ok(world.exists(inbox.tokenAccount));
});

for (const count of [2, 4, 8]) {
  test(`${count} inboxes in one instruction are exact and closed`, () => {
    const inboxes = Array.from({ length: count }, () => scene.paid(1_000_019n));
    const before = [world.units(payoutAccount), world.units(feeAccount)] as const;
    const { bytes } = world.must([operator], [settleAndClose(...inboxes)]);
    assert.equal(world.units(payoutAccount) - before[0], BigInt(count) * 995_019n);
    assert.equal(world.units(feeAccount) - before[1], BigInt(count) * 5_000n);
    assert.ok(inboxes.every(({ tokenAccount }) => !world.exists(tokenAccount)));
    assert.ok(bytes <= 1_232);
  });
}

test("the same inbox twice in a batch is paid once; a batch that closes it is refused as a whole", () => {
  const inbox = scene.paid(1_000_000n);
  assertRefused(scene, "twice and closed", {
    victim: inbox,
    by: [operator],
    instructions: [settleAndClose(inbox, inbox)],
    why: "INBOX",
  });
  const before = world.units(payoutAccount);
  world.must([stranger], [buildSettle([inbox, inbox])]);
  assert.equal(world.units(payoutAccount) - before, 995_000n);
});

test("a batch in which one inbox is frozen moves nothing", () => {
  const [good, bad] = [scene.paid(5_000n), scene.paid(6_000n)];
  world.must([operator], [setFrozen(bad.tokenAccount, mint, { authority: operator, isFrozen: true })]);
  assertRefused(scene, "frozen last", {
    victim: good,
    by: [stranger],
    instructions: [buildSettle([good, bad])],
    why: "FROZEN",
  });
  assertRefused(scene, "frozen first", {
    victim: good,
    by: [stranger],
    instructions: [buildSettle([bad, good])],
    why: "FROZEN",
  });
});

test("the payout wallet names another token account of its own by signing", () => {
  const wallet = world.createWallet();
  const first = fund(world, operator, { owner: wallet.address, mint, units: 0n });
  const second = createAuxiliary(world, wallet, { mint, owner: wallet.address });
  const inbox = scene.paid(3_000_000n, { payout: wallet.address });
  const named = buildSettle([inbox], { payoutAccount: second });
  const unsigned = withAccount(named, 2, readonlyMeta(wallet.address));
  assertRefused(scene, "without its signature", {
    victim: inbox,
    by: [thief],
    instructions: [unsigned],
    why: "PAYOUT",
  });
  world.must([wallet], [named]);
  assert.deepEqual([world.units(first), world.units(second)], [0n, 2_985_000n]);
});

test("a payout account that the wallet has lost is not paid", () => {
  const wallet = world.createWallet();
  const lost = fund(world, operator, { owner: wallet.address, mint, units: 0n });
  const inbox = scene.paid(3_000_000n, { payout: wallet.address });
  world.must([wallet], [setAuthority(lost, wallet, { role: AUTHORITY_OWNER, to: thief.address })]);
  assertRefused(scene, "by the thief", {
    victim: inbox,
    by: [thief],
    instructions: [buildSettle([inbox])],
    why: "PAYOUT",
  });
  const signed = buildSettle([inbox], { payoutAccount: lost });
  assertRefused(scene, "even signed", { victim: inbox, by: [wallet], instructions: [signed], why: "PAYOUT" });
});

test("a missing or frozen payout account: the money waits", () => {
  const wallet = world.createWallet();
  const inbox = scene.paid(9n, { payout: wallet.address });
  assertRefused(scene, "missing", {
    victim: inbox,
    by: [stranger],
    instructions: [buildSettle([inbox])],
    why: "PAYOUT",
  });
  const account = fund(world, operator, { owner: wallet.address, mint, units: 0n });
  world.must([operator], [setFrozen(account, mint, { authority: operator, isFrozen: true })]);
  assertRefused(scene, "frozen", {
    victim: inbox,
    by: [stranger],
    instructions: [buildSettle([inbox])],
    why: "PAYOUT",
  });
  world.must([operator], [setFrozen(account, mint, { authority: operator, isFrozen: false })]);
  world.must([stranger], [buildSettle([inbox])]);
  assert.equal(world.units(account), 9n);
});

test("a frozen inbox: the money waits", () => {
  const inbox = scene.paid(1_000n);
  world.must([operator], [setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: true })]);
  assertRefused(scene, "frozen", {
    victim: inbox,
    by: [stranger],
    instructions: [buildSettle([inbox])],
    why: "FROZEN",
  });
});

test("a fee that cannot be paid is forfeited to the payout", () => {
  const frozen = fund(world, operator, { owner: world.createWallet().address, mint, units: 0n });
  world.must([operator], [setFrozen(frozen, mint, { authority: operator, isFrozen: true })]);
  const ofOtherMint = fund(world, operator, { owner: scene.feeOwner.address, mint: scene.otherMint, units: 0n });
  const missing = associated(world.createWallet().address, mint);
  for (const account of [frozen, missing, ofOtherMint, merchant.address, mint]) {
    const inbox = scene.paid(1_000_000n, { feeAccount: account });
    const before = world.units(payoutAccount);
    world.must([stranger], [buildSettle([inbox])]);
    assert.equal(world.units(payoutAccount) - before, 1_000_000n);
  }
  const own = scene.paid(1_000_000n, { feeAccount: payoutAccount });
  const before = world.units(payoutAccount);
  world.must([stranger], [buildSettle([own])]);
  assert.equal(world.units(payoutAccount) - before, 1_000_000n);
});

test("nobody can make a fee fail that could be paid", () => {
  const inbox = scene.paid(1_000_000n);
  const withoutFee = withAccount(buildSettle([inbox]), 3, readonlyMeta(feeAccount));
  assertRefused(scene, "read-only", {
    victim: inbox,
    by: [merchant],
    instructions: [withoutFee],
    why: /writable|privilege/,
  });
});

test("an inbox with a fee above the maximum is never settled", () => {
  const inbox = scene.paid(1_000_000n, { feeBps: 1_000 });
  const made = buildSettle([inbox]);
  const tooHigh = withData(made, 11, 1001 & 0xff, 1001 >> 8);
  assertRefused(scene, "1,001", { victim: inbox, by: [operator], instructions: [tooHigh], why: "FEE_BPS" });
  const before = world.units(feeAccount);
  world.must([stranger], [made]);
  assert.equal(world.units(feeAccount) - before, 100_000n);
});

test("an inbox of kind hop is not settled here", () => {
  const inbox = scene.paidHop(5_000_000n);
  const made = buildSettle([scene.pay()]);
  const terms = buildSettle([scene.pay({ payout: merchant.address })]);
  const accounts = [...terms.accounts.slice(0, 7), writableMeta(inbox.tokenAccount), readonlyMeta(inbox.address)];
  const data = Uint8Array.from([0, 1, made.data[2] ?? 0, ...new Uint8Array(36), inbox.bump, ...new Uint8Array(32)]);
  assertRefused(scene, "kind", {
    victim: inbox,
    by: [thief],
    instructions: [{ ...made, accounts, data }],
    why: "KIND",
  });
});

test("money in another token account of the inbox is settled too", () => {
  const inbox = scene.pay();
  const aside = createAuxiliary(world, payer, { mint, owner: inbox.address });
  const units = 5_000_000n;
  world.must([payer], [transferTokens({ from: scene.payerAccount, to: aside, mint, owner: payer.address, units })]);
  const before = world.units(payoutAccount);
  world.must([operator], [settleAndClose({ ...inbox, tokenAccount: aside })]);
  assert.equal(world.units(payoutAccount) - before, (units * BigInt(10_000 - FEE_BPS)) / 10_000n);
  assert.equal(world.exists(aside), false);
});

test("lamports that are more than a rent keep an account open", () => {
  const room = lamportsRentEnd - world.rent(165);
  for (const [lamports, isClosed] of [
    [room - 1n, true],
    [room, false],
    [5_000_000_000n, false],
  ] as const) {
    const inbox = scene.paid(1_000_000n);
    world.must([payer], [sendLamports(payer, inbox.tokenAccount, lamports)]);
    world.must([operator], [settleAndClose(inbox)]);
    assert.equal(world.exists(inbox.tokenAccount), !isClosed, String(lamports));
    assert.equal(world.units(inbox.tokenAccount), 0n);
  }
});

test("nobody as recovery key changes nothing for settle", () => {
  const inbox = scene.paid(10_000n, { recovery: noKey });
  const before = world.units(payoutAccount);
  world.must([stranger], [buildSettle([inbox])]);
  assert.equal(world.units(payoutAccount) - before, 9_950n);
});

test("another number of accounts or bytes is refused", () => {
  const inbox = scene.paid(1_000_000n);
  const made = buildSettle([inbox]);
  const refuse = (name: string, change: Partial<typeof made>, why: "ACCOUNTS" | "DATA" | "KIND") =>
    assertRefused(scene, name, { victim: inbox, by: [thief], instructions: [{ ...made, ...change }], why });
  refuse("one account less", { accounts: made.accounts.slice(0, 8) }, "ACCOUNTS");
  refuse("one account more", { accounts: [...made.accounts, writableMeta(scene.thiefAccount)] }, "ACCOUNTS");
  refuse("no accounts", { accounts: [] }, "ACCOUNTS");
  refuse("seven accounts", { accounts: made.accounts.slice(0, 7) }, "ACCOUNTS");
  const many = Array.from({ length: 24 }, () => readonlyMeta(mint));
  refuse("33 accounts", { accounts: [...made.accounts, ...many] }, "ACCOUNTS");
  refuse("32 accounts", { accounts: [...made.accounts, ...many.slice(1)] }, "ACCOUNTS");
  // Bytes after the accounts that would look like one more account.
  refuse(
    "33 accounts before 255 bytes",
    { accounts: [...made.accounts, ...many], data: new Uint8Array(255) },
    "ACCOUNTS",
  );
  refuse("no data", { data: new Uint8Array() }, "DATA");
  refuse("a byte less", { data: made.data.slice(0, -1) }, "DATA");
  refuse("a byte more", { data: Uint8Array.from([...made.data, 0]) }, "DATA");
  refuse("no inbox", { data: made.data.slice(0, 13), accounts: made.accounts.slice(0, 8) }, "DATA");
  refuse("an unknown tag", withData(made, 0, 6), "DATA");
  refuse("tag 255", withData(made, 0, 255), "DATA");
  refuse("an unknown kind", withData(made, 1, 2), "KIND");
  refuse("hop with the data of pay", withData(made, 1, 1), "DATA");
  assert.equal(errorCode("PROGRAM"), 0x113);
});
