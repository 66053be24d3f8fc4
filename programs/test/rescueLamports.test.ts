import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildRescueLamports,
  readonlyMeta,
  signerMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import { noKey } from "@tributary/inbox/solana/keys";
import { assertRefused, OTHER_TERMS, withAccount } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { RECOVER_AFTER, Scene, START } from "./support/scene.ts";
import { sendLamports } from "./support/tokens.ts";

const scene = new Scene();
const { world, payer, recoverer, thief, merchant } = scene;
const PRIMED = 890_880n;

function rich(lamports: bigint, change = {}) {
  const inbox = scene.pay(change);
  world.must([payer], [sendLamports(payer, inbox.address, lamports)]);
  return inbox;
}

function refuse(name: string, inbox: ReturnType<typeof rich>, change: Partial<Refusal> & Pick<Refusal, "why">): void {
  const instructions = [buildRescueLamports(inbox, recoverer.address)];
  assertRefused(scene, name, { victim: inbox, by: [recoverer], instructions, ...change });
}

test("before recoverAfter the recovery key takes what is more than a rent, down to the priming", () => {
  const inbox = rich(5_000_000_000n);
  const before = world.lamports(merchant.address);
  world.must([recoverer], [buildRescueLamports(inbox, merchant.address)]);
  assert.equal(world.lamports(merchant.address) - before, 5_000_000_000n - PRIMED);
  assert.equal(world.lamports(inbox.address), PRIMED);
  refuse("the priming", inbox, { why: "NOTHING" });
  refuse("a lamport below the limit", rich(4_099_999n), { why: "NOTHING" });
  const edge = rich(4_100_000n);
  world.must([recoverer], [buildRescueLamports(edge, merchant.address)]);
  assert.equal(world.lamports(edge.address), PRIMED);
});

test("from recoverAfter on it takes everything", () => {
  const inbox = rich(1_000_000n);
  world.setTime(RECOVER_AFTER - 1);
  refuse("a second early", inbox, { why: "NOTHING" });
  world.setTime(RECOVER_AFTER);
  world.must([recoverer], [buildRescueLamports(inbox, recoverer.address)]);
  assert.equal(world.lamports(inbox.address), 0n);
  refuse("nothing is left", inbox, { why: "NOTHING" });
  world.setTime(START);
});

test("an inbox that crosses has the same rules", () => {
  const inbox = scene.hop();
  world.must([payer], [sendLamports(payer, inbox.address, 5_000_000n)]);
  world.must([recoverer], [buildRescueLamports(inbox, recoverer.address)]);
  assert.equal(world.lamports(inbox.address), PRIMED);
});

test("nobody else takes lamports", () => {
  const inbox = rich(5_000_000_000n);
  const forged = {
    ...scene.compute({ ...scene.payTerms, salt: inbox.terms.salt, recovery: thief.address, recoverAfter: 0 }),
    address: inbox.address,
  };
  refuse("other terms", inbox, {
    by: [thief],
    instructions: [buildRescueLamports(forged, thief.address)],
    why: OTHER_TERMS,
  });
  const made = buildRescueLamports(inbox, thief.address);
  const unsigned = withAccount(made, 5, readonlyMeta(recoverer.address));
  refuse("without a signature", inbox, { by: [thief], instructions: [unsigned], why: "RECOVERY" });
  const none = rich(5_000_000_000n, { recovery: noKey, recoverAfter: 0 });
  const signed = withAccount(buildRescueLamports(none, thief.address), 5, signerMeta(noKey));
  refuse("nobody's key", none, { by: [thief], instructions: [signed], why: "RECOVERY", isForged: true });
});

test("accounts are exactly those of the instruction", () => {
  const inbox = rich(5_000_000_000n);
  const made = buildRescueLamports(inbox, recoverer.address);
  refuse("another system program", inbox, {
    instructions: [withAccount(made, 8, readonlyMeta(scene.robber))],
    why: "PROGRAM",
  });
  refuse("one more", inbox, {
    instructions: [{ ...made, accounts: [...made.accounts, readonlyMeta(noKey)] }],
    why: "ACCOUNTS",
  });
  refuse("one less", inbox, { instructions: [{ ...made, accounts: made.accounts.slice(0, -1) }], why: "ACCOUNTS" });
  const twice = Uint8Array.from([...made.data, ...made.data.slice(13)]);
  refuse("two inboxes", inbox, { instructions: [{ ...made, data: twice }], why: "ACCOUNTS" });
  refuse("read-only", inbox, { instructions: [withAccount(made, 6, readonlyMeta(inbox.address))], why: OTHER_TERMS });
  refuse("a wallet", inbox, {
    instructions: [withAccount(made, 6, writableSignerMeta(recoverer.address))],
    why: "PDA",
  });
  refuse("another inbox", inbox, {
    instructions: [withAccount(made, 6, writableMeta(rich(5_000_000_000n).address))],
    why: OTHER_TERMS,
  });
});
