import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildRescue,
  buildSettle,
  buildUnnest,
  readonlyMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import { assertRefused, withAccount } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { Scene } from "./support/scene.ts";
import { associated, createAssociated, fund, transferTokens } from "./support/tokens.ts";

const scene = new Scene();
const { world, operator, payer, stranger, thief, recoverer, mint, otherMint, thiefAccount } = scene;

/** An inbox to whose token account somebody sent tokens as if it were a wallet. */
function nest(units: bigint) {
  const inbox = scene.paid(1n);
  const nested = associated(inbox.tokenAccount, mint);
  world.must(
    [payer],
    [
      createAssociated(payer, inbox.tokenAccount, { mint }),
      transferTokens({ from: scene.payerAccount, to: nested, mint, owner: payer.address, units }),
    ],
  );
  return { inbox, nested };
}

test("a stranger returns nested money to the inbox", () => {
  const { inbox, nested } = nest(9_000_000n);
  world.must([stranger], [buildUnnest(inbox, mint)]);
  assert.deepEqual([world.units(inbox.tokenAccount), world.exists(nested)], [9_000_001n, false]);
  world.must([operator], [buildSettle([inbox], { rentRecipient: true })]);
});

test("nested money of another mint returns too, and then the recovery key may rescue it", () => {
  const inbox = scene.paid(1n);
  fund(world, operator, { owner: inbox.tokenAccount, mint: otherMint, units: 6n });
  const account = fund(world, operator, { owner: inbox.address, mint: otherMint, units: 0n });
  world.must([stranger], [buildUnnest(inbox, otherMint)]);
  assert.equal(world.units(account), 6n);
  const destination = fund(world, operator, { owner: recoverer.address, mint: otherMint, units: 0n });
  world.must([recoverer], [buildRescue(inbox, { tokenAccount: account, mint: otherMint, destination })]);
  assert.equal(world.units(destination), 6n);
});

test("nested money goes nowhere else", () => {
  const { inbox, nested } = nest(5n);
  const made = buildUnnest(inbox, mint);
  const refuse = (name: string, change: Partial<typeof made>, why: Refusal["why"]) => {
    for (const tokenAccount of [nested, inbox.tokenAccount])
      assertRefused(scene, name, {
        victim: { ...inbox, tokenAccount },
        by: [thief],
        instructions: [{ ...made, ...change }],
        why,
      });
  };
  refuse("to a thief", withAccount(made, 10, writableMeta(thiefAccount)), /./);
  refuse("by another program", withAccount(made, 12, readonlyMeta(scene.robber)), "PROGRAM");
  refuse("for a wallet", withAccount(made, 7, writableSignerMeta(thief.address)), "PDA");
  refuse("one account more", { accounts: [...made.accounts, readonlyMeta(mint)] }, "ACCOUNTS");
  refuse("one account less", { accounts: made.accounts.slice(0, -1) }, "ACCOUNTS");
  refuse("two inboxes", { data: Uint8Array.from([...made.data, ...made.data.slice(13)]) }, "ACCOUNTS");
  const settling = buildSettle([{ ...inbox, tokenAccount: nested }]);
  refuse("by settle", settling, "INBOX");
});
