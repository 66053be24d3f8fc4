import assert from "node:assert/strict";
import { test } from "node:test";
import { buildRescue, readonlyMeta, signerMeta, writableMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { noKey } from "@tributary/inbox/solana/keys";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { assertRefused, OTHER_TERMS, withAccount } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { RECOVER_AFTER, Scene, START } from "./support/scene.ts";
import { associated, createAssociated, fund, instruction, sendLamports, setFrozen } from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";
import type { Keypair } from "./support/world.ts";

const scene = new Scene();
const { world, operator, merchant, recoverer, stranger, thief, payer, mint, otherMint, feeAccount } = scene;
const own = fund(world, operator, { owner: recoverer.address, mint, units: 0n });
const ownOther = fund(world, operator, { owner: recoverer.address, mint: otherMint, units: 0n });
const WRAPPED_SOL = "So11111111111111111111111111111111111111112";

const victim = scene.paid(10_000_000n);
const wrong = fund(world, operator, { owner: victim.address, mint: otherMint, units: 42n });

function forge(change: Partial<SolanaPayTerms>) {
  const forged = scene.compute({ ...(victim.terms as SolanaPayTerms), ...change });
  return { ...forged, address: victim.address, tokenAccount: victim.tokenAccount };
}

function refuse(name: string, made: SolanaInstruction, { why, by }: { why: Refusal["why"]; by: Keypair }): void {
  for (const watched of [victim, { ...victim, tokenAccount: wrong }])
    assertRefused(scene, name, { victim: watched, by: [by], instructions: [made], why });
}

const other = { tokenAccount: wrong, mint: otherMint, destination: ownOther };

test("only the recovery key rescues", () => {
  const asThief = forge({ recovery: thief.address });
  refuse("a stranger", buildRescue(asThief, other), { why: OTHER_TERMS, by: thief });
  refuse("the payout wallet", buildRescue(forge({ recovery: merchant.address }), other), {
    why: OTHER_TERMS,
    by: merchant,
  });
  const unsigned = withAccount(buildRescue(victim, other), 5, readonlyMeta(recoverer.address));
  refuse("without its signature", unsigned, { why: "RECOVERY", by: thief });
});

test("the pinned mint waits for recoverAfter, to the second", () => {
  const pinned = buildRescue(victim, { destination: own });
  refuse("early", pinned, { why: "EARLY", by: recoverer });
  refuse("as another mint", buildRescue(victim, { destination: own, mint: otherMint }), {
    why: "INBOX",
    by: recoverer,
  });
  const disguised = buildRescue(forge({ mint: otherMint }), {
    tokenAccount: victim.tokenAccount,
    mint,
    destination: own,
  });
  refuse("as if another mint were pinned", disguised, { why: OTHER_TERMS, by: recoverer });
  world.setTime(RECOVER_AFTER - 1);
  refuse("a second early", pinned, { why: "EARLY", by: recoverer });
  world.setTime(-1);
  refuse("a clock before 1970", pinned, { why: "EARLY", by: recoverer });
  world.setTime(START);
  const sooner = buildRescue(forge({ recoverAfter: 0 }), { destination: own });
  refuse("an earlier recoverAfter", sooner, { why: OTHER_TERMS, by: recoverer });
});

test("another mint is rescued at once, and its account closed to the named receiver", () => {
  const before = world.lamports(stranger.address);
  world.must([recoverer], [buildRescue(victim, { ...other, lamportsTo: stranger.address })]);
  assert.deepEqual([world.units(ownOther), world.exists(wrong)], [42n, false]);
  assert.equal(world.lamports(stranger.address) - before, world.rent(165));
});

test("from recoverAfter on the pinned mint is rescued with its fee, and by nobody else", () => {
  world.setTime(RECOVER_AFTER);
  const asThief = buildRescue(forge({ recovery: thief.address, recoverAfter: 0 }), { destination: scene.thiefAccount });
  assertRefused(scene, "a thief", { victim, by: [thief], instructions: [asThief], why: OTHER_TERMS });
  const fee = world.units(feeAccount);
  world.must([stranger, recoverer], [buildRescue(victim, { destination: own })]);
  assert.deepEqual([world.units(own), world.units(feeAccount) - fee], [9_950_000n, 50_000n]);
  assert.ok(world.exists(victim.tokenAccount));
  const empty = buildRescue(victim, { destination: own, lamportsTo: recoverer.address });
  world.must([recoverer], [empty]);
  assert.equal(world.exists(victim.tokenAccount), false);
  world.setTime(START);
});

test("a fee that cannot be paid does not stop a rescue", () => {
  world.setTime(RECOVER_AFTER);
  const inbox = scene.paid(1_000_000n);
  world.must([operator], [setFrozen(feeAccount, mint, { authority: operator, isFrozen: true })]);
  const before = world.units(own);
  world.must([recoverer], [buildRescue(inbox, { destination: own })]);
  assert.equal(world.units(own) - before, 1_000_000n);
  world.must([operator], [setFrozen(feeAccount, mint, { authority: operator, isFrozen: false })]);
  world.setTime(START);
});

test("an inbox that crosses is rescued without a fee, and a payout wallet may be the recovery key", () => {
  const hop = scene.paidHop(10_000_000n);
  const both = scene.paid(2_000_000n, { recovery: merchant.address });
  const early = buildRescue(hop, { destination: own });
  assertRefused(scene, "early", { victim: hop, by: [recoverer], instructions: [early], why: "EARLY" });
  world.setTime(RECOVER_AFTER);
  const before = world.units(own);
  world.must([recoverer], [early]);
  assert.equal(world.units(own) - before, 10_000_000n);
  world.must([merchant], [buildRescue(both, { destination: own })]);
  assert.equal(world.units(own) - before, 11_990_000n);
  world.setTime(START);
});

test("no account in place of the messenger receives a fee", () => {
  world.setTime(RECOVER_AFTER);
  const inbox = scene.paidHop(1_000_000n, { messenger: feeAccount, minAmount: 500n });
  const [before, fee] = [world.units(own), world.units(feeAccount)];
  world.must([recoverer], [withAccount(buildRescue(inbox, { destination: own }), 3, writableMeta(feeAccount))]);
  assert.deepEqual([world.units(own) - before, world.units(feeAccount) - fee], [1_000_000n, 0n]);
  world.setTime(START);
});

test("a fee above the maximum is not taken from a rescue", () => {
  world.setTime(RECOVER_AFTER);
  const inbox = scene.paid(1_000_000n, { feeBps: 1_000 });
  const [before, fee] = [world.units(own), world.units(feeAccount)];
  world.must([recoverer], [buildRescue(inbox, { destination: own })]);
  assert.deepEqual([world.units(own) - before, world.units(feeAccount) - fee], [900_000n, 100_000n]);
  world.setTime(START);
});

test("nobody as recovery key rescues nothing, even if its signature existed", () => {
  const inbox = scene.paid(5n, { recovery: noKey, recoverAfter: 0 });
  const made = buildRescue(inbox, { destination: scene.thiefAccount });
  const unsigned = withAccount(made, 5, readonlyMeta(noKey));
  assertRefused(scene, "unsigned", { victim: inbox, by: [thief], instructions: [unsigned], why: "RECOVERY" });
  const signed = withAccount(made, 5, signerMeta(noKey));
  assertRefused(scene, "signed", {
    victim: inbox,
    by: [thief],
    instructions: [signed],
    why: "RECOVERY",
    isForged: true,
  });
});

test("wrapped SOL of another mint is rescued with its rent", () => {
  const inbox = scene.pay();
  // The runtime of the tests has the native mint only when somebody puts it there.
  world.put(WRAPPED_SOL, { owner: inbox.tokenProgram, data: nativeMint() });
  const account = associated(inbox.address, WRAPPED_SOL);
  const to = associated(recoverer.address, WRAPPED_SOL);
  world.must(
    [payer],
    [
      createAssociated(payer, inbox.address, { mint: WRAPPED_SOL }),
      createAssociated(payer, recoverer.address, { mint: WRAPPED_SOL }),
      sendLamports(payer, account, 7_000_000n),
      instruction(inbox.tokenProgram, [writableMeta(account)], 17),
    ],
  );
  const before = world.lamports(stranger.address);
  const rescue = { tokenAccount: account, mint: WRAPPED_SOL, destination: to, lamportsTo: stranger.address };
  world.must([recoverer], [buildRescue(inbox, rescue)]);
  assert.deepEqual([world.units(to), world.lamports(stranger.address) - before], [7_000_000n, world.rent(165)]);
});

test("another number of accounts or inboxes is refused, and so is a wallet in place of the inbox", () => {
  const inbox = scene.paid(9n);
  const account = fund(world, operator, { owner: inbox.address, mint: otherMint, units: 3n });
  const made = buildRescue(inbox, { tokenAccount: account, mint: otherMint, destination: ownOther });
  const refuseChanged = (name: string, change: Partial<SolanaInstruction>, why: Refusal["why"]) =>
    assertRefused(scene, name, {
      victim: { ...inbox, tokenAccount: account },
      by: [recoverer],
      instructions: [{ ...made, ...change }],
      why,
    });
  const { accounts, data } = made;
  refuseChanged("9 accounts", { accounts: accounts.slice(0, 9) }, "ACCOUNTS");
  refuseChanged("12 accounts", { accounts: [...accounts, readonlyMeta(mint), readonlyMeta(mint)] }, "ACCOUNTS");
  refuseChanged("two inboxes", { data: Uint8Array.from([...data, ...data.slice(13)]) }, "ACCOUNTS");
  refuseChanged("mint that is none", withAccount(made, 9, readonlyMeta(recoverer.address)), "MINT");
  refuseChanged("account of another inbox", withAccount(made, 6, writableMeta(victim.tokenAccount)), "INBOX");
  const shortMint = createKeypair().address;
  world.put(shortMint, { owner: inbox.tokenProgram, data: Buffer.alloc(81) });
  refuseChanged("a mint that is too short", withAccount(made, 9, readonlyMeta(shortMint)), "MINT");
  const mine = withAccount(withAccount(made, 6, writableMeta(ownOther)), 7, signerMeta(recoverer.address));
  refuseChanged("own account", mine, "PDA");
});

test("a frozen account of another mint waits", () => {
  const inbox = scene.pay();
  const account = fund(world, operator, { owner: inbox.address, mint: otherMint, units: 3n });
  world.must([operator], [setFrozen(account, otherMint, { authority: operator, isFrozen: true })]);
  const made = buildRescue(inbox, { tokenAccount: account, mint: otherMint, destination: ownOther });
  const watched = { ...inbox, tokenAccount: account };
  assertRefused(scene, "frozen", { victim: watched, by: [recoverer], instructions: [made], why: "FROZEN" });
});

function nativeMint(): Buffer {
  const data = Buffer.alloc(82);
  data.writeUInt8(9, 44);
  data.writeUInt8(1, 45);
  return data;
}
