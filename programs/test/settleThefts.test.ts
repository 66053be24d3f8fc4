import assert from "node:assert/strict";
import { test } from "node:test";
import { buildRescue, buildSettle, readonlyMeta, signerMeta } from "@tributary/inbox/solana/instructions";
import { systemProgram, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { assertRefused, OTHER_TERMS, proxied, withAccount, withData } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { RECOVER_AFTER, saltOf, Scene } from "./support/scene.ts";
import {
  approve,
  associated,
  AUTHORITY_CLOSER,
  AUTHORITY_OWNER,
  closeTokens,
  createAuxiliary,
  fund,
  setAuthority,
  tokenAccountData,
  transferTokens,
} from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";

// Every way that a thief may try to divert a settlement. He has no key of merchant, recovery or operator.

const scene = new Scene();
const { world, operator, merchant, thief, mint, otherMint, thiefAccount, payoutAccount, feeAccount } = scene;
const victim = scene.paid(500_000_000n);
const victimTerms = victim.terms as SolanaPayTerms;

/**
 * The victim's accounts under other terms, with the bump that is right for those: a wrong bump alone would be refused.
 */
function forge(change: Partial<SolanaPayTerms>) {
  const forged = scene.compute({ ...victimTerms, ...change });
  return { ...forged, address: victim.address, tokenAccount: victim.tokenAccount };
}
const settleForged = (change: Partial<SolanaPayTerms>) => buildSettle([forge(change)]);

function refuse(name: string, made: Refusal["instructions"][number], why: Refusal["why"]) {
  assertRefused(scene, name, { victim, by: [thief], instructions: [made], why });
}

const honest = buildSettle([victim]);
const payout = (account: string) => withAccount(honest, 6, { address: account, isSigner: false, isWritable: true });

test("another payout account is refused", () => {
  refuse("the thief's account", payout(thiefAccount), "PAYOUT");
  refuse(
    "an account of the wallet's that it did not name",
    payout(createAuxiliary(world, thief, { mint, owner: merchant.address })),
    "PAYOUT",
  );
  refuse(
    "another mint's",
    payout(fund(world, operator, { owner: scene.stranger.address, mint: otherMint, units: 0n })),
    "PAYOUT",
  );
  refuse("one that does not exist", payout(createKeypair().address), "PAYOUT");
  refuse("the inbox itself", payout(victim.tokenAccount), "PAYOUT");
  refuse("the mint", payout(mint), "PAYOUT");
  refuse("another bump", withData(honest, 2, (honest.data[2] ?? 0) - 1), "PAYOUT");
});

test("forged accounts of another program are refused", () => {
  const fake = createKeypair().address;
  const data = (owner: string) => tokenAccountData({ mint, owner, units: 5n });
  world.put(fake, { owner: scene.robber, data: data(merchant.address) });
  refuse("a payout account", payout(fake), "PAYOUT");
  world.put(fake, { owner: scene.robber, data: data(victim.address) });
  refuse("an inbox", buildSettle([{ ...victim, tokenAccount: fake }]), "INBOX");
  world.put(fake, { owner: token2022Program, data: data(victim.address) });
  refuse("an inbox of the other token program", buildSettle([{ ...victim, tokenAccount: fake }]), "INBOX");
});

test("data that only resembles a token account is refused", () => {
  const fake = createKeypair().address;
  const owner = token2022Program;
  const long = Buffer.concat([
    tokenAccountData({ mint, owner: victim.address, units: 5n }),
    Buffer.from([1, 0, 0, 0, 0]),
  ]);
  world.edit(mint, () => undefined);
  const mint2022 = createKeypair().address;
  world.put(mint2022, { owner, data: world.account(mint)?.data ?? Buffer.alloc(0) });
  const inbox = scene.pay({ mint: mint2022, tokenProgram: owner });
  const payoutOf2022 = associated(merchant.address, mint2022, owner);
  world.put(payoutOf2022, { owner, data: tokenAccountData({ mint: mint2022, owner: merchant.address, units: 0n }) });
  const put = (bytes: Buffer) => world.put(fake, { owner, data: bytes });
  const settle = () => buildSettle([{ ...inbox, tokenAccount: fake }]);
  const refuseOther = (name: string) =>
    assertRefused(scene, name, { victim: inbox, by: [thief], instructions: [settle()], why: "INBOX" });
  Buffer.from(tokenAccountData({ mint: mint2022, owner: inbox.address, units: 5n })).copy(long);
  put(long);
  refuseOther("another type of account");
  put(long.subarray(0, 164));
  refuseOther("too short");
  long.writeUInt8(2, 165);
  long.writeUInt8(0, 108);
  put(long);
  refuseOther("not initialized");
  long.writeUInt8(1, 108);
  put(long);
  const before = world.units(payoutOf2022);
  world.must([thief], [settle()]);
  assert.equal(world.units(payoutOf2022) - before, 5n);
});

test("no term can be another one", () => {
  fund(world, operator, { owner: merchant.address, mint: otherMint, units: 0n });
  const other = thief.address;
  const otherTerms: readonly [string, Partial<SolanaPayTerms>][] = [
    ["fee account", { feeAccount: thiefAccount }],
    ["fee account that is the payout account", { feeAccount: payoutAccount }],
    ["fee account that is the inbox", { feeAccount: victim.tokenAccount }],
    ["fee account that does not exist", { feeAccount: createKeypair().address }],
    ["higher fee", { feeBps: 1_000 }],
    ["lower fee", { feeBps: 0 }],
    ["earlier recoverAfter", { recoverAfter: 0 }],
    ["later recoverAfter", { recoverAfter: RECOVER_AFTER + 1 }],
    ["recovery key", { recovery: other }],
    ["rent recipient", { rentRecipient: other }],
    ["salt", { salt: saltOf(999_999) }],
  ];
  for (const [name, change] of otherTerms) refuse(name, settleForged(change), OTHER_TERMS);
  const wallet = withAccount(settleForged({ payout: other }), 6, {
    address: thiefAccount,
    isSigner: false,
    isWritable: true,
  });
  refuse("payout wallet and its account", wallet, OTHER_TERMS);
  refuse("payout wallet that signs", withAccount(wallet, 2, signerMeta(other)), OTHER_TERMS);
  const rent = forge({ rentRecipient: other });
  refuse("rent recipient who signs", buildSettle([rent], { rentRecipient: true }), OTHER_TERMS);
  refuse("another bump", buildSettle([{ ...victim, bump: victim.bump - 1 }]), /unauthorized|valid address/);
  refuse("another mint", settleForged({ mint: otherMint }), "INBOX");
});

test("another token program is refused", () => {
  for (const [program, why] of [
    [token2022Program, "PAYOUT"],
    [scene.robber, "TOKEN_PROGRAM"],
    [systemProgram, "TOKEN_PROGRAM"],
    [scene.program, "TOKEN_PROGRAM"],
  ] as const)
    refuse(program, withAccount(honest, 1, readonlyMeta(program)), why);
});

test("terms of the thief's own give no access to the victim's account", () => {
  const own = scene.pay({
    payout: thief.address,
    feeAccount: thiefAccount,
    rentRecipient: thief.address,
    recovery: thief.address,
    recoverAfter: 0,
  });
  scene.deposit(own, 3n);
  const { address, tokenAccount } = victim;
  refuse("over the account", buildSettle([{ ...own, tokenAccount }]), "INBOX");
  refuse("over account and address", buildSettle([{ ...own, tokenAccount, address }]), OTHER_TERMS);
  refuse("by rescue", buildRescue({ ...own, tokenAccount, address }, { destination: thiefAccount }), OTHER_TERMS);
  const salted = scene.compute({ ...(own.terms as SolanaPayTerms), salt: victimTerms.salt });
  refuse("in a batch with his own", buildSettle([own, { ...salted, tokenAccount, address }]), OTHER_TERMS);
  assert.throws(() => buildSettle([own, victim]), /equal terms/);
});

test("a wallet does not stand in for the inbox by signing", () => {
  const made = buildSettle([{ ...victim, tokenAccount: thiefAccount, address: thief.address }]);
  refuse("the thief's own account", withAccount(made, 8, signerMeta(thief.address)), "PDA");
});

test("order and privileges of accounts decide nothing for a thief", () => {
  const swapped = [...honest.accounts.slice(0, 7), honest.accounts[8], honest.accounts[7]].flatMap(
    (meta) => meta ?? [],
  );
  refuse("account and inbox swapped", { ...honest, accounts: swapped }, "INBOX");
  for (const [name, index] of [
    ["inbox", 7],
    ["payout", 6],
    ["fee", 3],
  ] as const)
    refuse(
      `read-only ${name}`,
      withAccount(honest, index, readonlyMeta(honest.accounts[index]?.address ?? "")),
      OTHER_TERMS,
    );
  for (const [one, other] of [
    [2, 5],
    [3, 6],
    [2, 4],
    [4, 5],
    [0, 2],
  ] as const) {
    const [first, second] = [honest.accounts[one], honest.accounts[other]];
    assert.ok(first && second);
    const made = withAccount(withAccount(honest, one, second), other, first);
    assert.equal(world.send([thief], [made]).ok, false, `${one} and ${other} swapped`);
  }
  const duplicate = withAccount(honest, 8, honest.accounts[2] ?? assert.fail());
  refuse("the payout wallet as inbox", duplicate, "INBOX");
});

test("a thief's program gains nothing by calling this one", () => {
  refuse("another payout", proxied(scene, payout(thiefAccount)), "PAYOUT");
  const wallet = withAccount(settleForged({ payout: thief.address }), 6, {
    address: thiefAccount,
    isSigner: false,
    isWritable: true,
  });
  refuse("another wallet", proxied(scene, withAccount(wallet, 2, signerMeta(thief.address))), OTHER_TERMS);
  refuse(
    "a transfer that the thief signs",
    transferTokens({ from: victim.tokenAccount, to: thiefAccount, mint, owner: thief.address, units: 1n }),
    4,
  );
});

test("an account that a thief made and handed over is settled, and stays open for its close authority", () => {
  const inbox = scene.pay();
  const trap = createAuxiliary(world, thief, { mint, owner: thief.address });
  world.must(
    [thief],
    [
      approve(trap, thief.address, thief),
      setAuthority(trap, thief, { role: AUTHORITY_CLOSER, to: thief.address }),
      setAuthority(trap, thief, { role: AUTHORITY_OWNER, to: inbox.address }),
    ],
  );
  const { payer, payerAccount } = scene;
  world.must(
    [payer],
    [transferTokens({ from: payerAccount, to: trap, mint, owner: payer.address, units: 4_000_000n })],
  );
  const trapped = { ...inbox, tokenAccount: trap };
  const take = transferTokens({ from: trap, to: thiefAccount, mint, owner: thief.address, units: 1n });
  assertRefused(scene, "a delegate from before", { victim: trapped, by: [thief], instructions: [take], why: 4 });
  assertRefused(scene, "closing it with money", {
    victim: trapped,
    by: [thief],
    instructions: [closeTokens(trap, thief.address, thief)],
    why: 0xb,
  });
  world.must([operator], [buildSettle([trapped], { rentRecipient: true })]);
  assert.deepEqual([world.exists(trap), world.units(trap)], [true, 0n]);
  world.must([thief], [closeTokens(trap, thief.address, thief)]);
});

test("an honest call by another program pays as ever", () => {
  const [before, fee] = [world.units(payoutAccount), world.units(feeAccount)];
  world.must([thief], [proxied(scene, honest)]);
  assert.deepEqual([world.units(payoutAccount) - before, world.units(feeAccount) - fee], [497_500_000n, 2_500_000n]);
  assert.equal(tokenProgram, victim.tokenProgram);
});
