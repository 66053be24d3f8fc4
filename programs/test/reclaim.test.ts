import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildReclaim,
  buildSettle,
  readonlyMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import { noKey } from "@tributary/inbox/solana/keys";
import { assertRefused, OTHER_TERMS, withAccount } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { Scene } from "./support/scene.ts";
import { sendLamports } from "./support/tokens.ts";

const scene = new Scene();
const { world, payer, operator, thief, recoverer } = scene;
const PRIMED = 890_880n;
const SIGNATURE = 5_000n;

function primed(lamports = PRIMED) {
  const inbox = scene.pay();
  world.must([payer], [sendLamports(payer, inbox.address, lamports)]);
  return inbox;
}

function refuse(name: string, inbox: ReturnType<typeof primed>, change: Partial<Refusal> & Pick<Refusal, "why">): void {
  assertRefused(scene, name, { victim: inbox, by: [operator], instructions: [buildReclaim(inbox)], ...change });
}

test("the rent recipient gets the priming back, with what a griefer added", () => {
  const inbox = primed();
  scene.deposit(inbox, 10_000_000n);
  world.must([thief], [sendLamports(thief, inbox.address, 1n)]);
  const before = world.lamports(operator.address);
  world.must([operator], [buildSettle([inbox], { rentRecipient: true }), buildReclaim(inbox)]);
  assert.equal(world.lamports(operator.address) - before, PRIMED + 1n + world.rent(165) - SIGNATURE);
  assert.equal(world.exists(inbox.address), false);
});

test("a payer's SOL is never the operator's", () => {
  refuse("5 SOL", primed(5_000_000_000n), { why: "EXCESS" });
  refuse("the limit", primed(4_100_000n), { why: "EXCESS" });
  const below = primed(4_099_999n);
  world.must([operator], [buildReclaim(below)]);
  assert.equal(world.lamports(below.address), 0n);
  refuse("nothing", below, { why: "NOTHING" });
});

test("nobody but the pinned rent recipient reclaims", () => {
  const inbox = primed();
  const forge = (rentRecipient: string) => ({
    ...scene.compute({ ...scene.payTerms, salt: inbox.terms.salt, rentRecipient }),
    address: inbox.address,
  });
  refuse("a thief", inbox, { by: [thief], instructions: [buildReclaim(forge(thief.address))], why: OTHER_TERMS });
  refuse("the recovery key", inbox, {
    by: [recoverer],
    instructions: [buildReclaim(forge(recoverer.address))],
    why: OTHER_TERMS,
  });
  const unsigned = withAccount(buildReclaim(inbox), 4, writableMeta(operator.address));
  refuse("without a signature", inbox, { by: [thief], instructions: [unsigned], why: "RENT" });
});

test("accounts are exactly those of the instruction", () => {
  const inbox = primed();
  const made = buildReclaim(inbox);
  refuse("another system program", inbox, {
    instructions: [withAccount(made, 7, readonlyMeta(scene.robber))],
    why: "PROGRAM",
  });
  refuse("one more", inbox, {
    instructions: [{ ...made, accounts: [...made.accounts, readonlyMeta(noKey)] }],
    why: "ACCOUNTS",
  });
  refuse("one less", inbox, { instructions: [{ ...made, accounts: made.accounts.slice(0, -1) }], why: "ACCOUNTS" });
  const twice = Uint8Array.from([...made.data, ...made.data.slice(13)]);
  refuse("two inboxes", inbox, { instructions: [{ ...made, data: twice }], why: "ACCOUNTS" });
  refuse("a wallet", inbox, {
    by: [operator, thief],
    instructions: [withAccount(made, 6, writableSignerMeta(thief.address))],
    why: "PDA",
  });
  refuse("another inbox", inbox, {
    instructions: [withAccount(made, 6, writableMeta(primed().address))],
    why: OTHER_TERMS,
  });
});
