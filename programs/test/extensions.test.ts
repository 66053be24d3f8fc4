import assert from "node:assert/strict";
import { test } from "node:test";
import {
  buildSettle,
  readonlyMeta,
  signerMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { systemProgram, token2022Program } from "@tributary/inbox/solana/keys";
import { assertRefused } from "./support/refusals.ts";
import { Scene } from "./support/scene.ts";
import {
  createAssociated,
  createMint,
  fund,
  instruction,
  keyBytes,
  mintTokens,
  sendLamports,
  setFrozen,
  u64,
} from "./support/tokens.ts";
import type { Keypair } from "./support/world.ts";

// Mints of Token-2022 with each extension that decides about transfers, and wrapped SOL.

const scene = new Scene();
const { world, operator, merchant, feeOwner, payer, stranger } = scene;
const program = token2022Program;
const authority = keyBytes(operator.address);
const ONE_PERCENT = Buffer.from([100, 0]);

type Kind = { readonly bytes: number; readonly init: (mint: string) => SolanaInstruction[] };
const extension = (bytes: number, ...data: (number | Uint8Array)[]): Kind => ({
  bytes,
  init: (mint) => [instruction(program, [writableMeta(mint)], ...data)],
});

const EXACT: Readonly<Record<string, Kind>> = {
  "no extension": { bytes: 82, init: () => [] },
  "a hook without a program": extension(234, 36, 0, authority, Buffer.alloc(32)),
  "a permanent delegate": extension(202, 35, authority),
  interest: extension(222, 33, 0, authority, Buffer.from([0, 1])),
  "a scaled amount": extension(226, 43, 0, authority, Buffer.from(new Float64Array([2]).buffer)),
  "a pause": extension(203, 44, 0, authority),
  "a close authority of the mint": extension(202, 25, 1, authority),
};
const TRANSFER_FEE = extension(278, 26, 0, 1, authority, 1, authority, ONE_PERCENT, u64(10n ** 12n));
const UNDEPOSITABLE: Readonly<Record<string, Kind>> = {
  "frozen accounts": extension(171, 28, 0, 2),
  "no transfers": extension(170, 32),
};

function prepare({ bytes, init }: Kind) {
  const mint = createMint(world, operator, { program, bytes, before: init });
  const open = (owner: Keypair, units: bigint) => fund(world, operator, { owner: owner.address, mint, units, program });
  const from = open(payer, 10n ** 12n);
  const feeAccount = open(feeOwner, 0n);
  const payout = open(merchant, 0n);
  return { mint, from, feeAccount, payout, inbox: scene.pay({ mint, feeAccount, tokenProgram: program }) };
}

const settle = (inbox: ReturnType<typeof prepare>["inbox"]) => buildSettle([inbox], { rentRecipient: true });

for (const [name, kind] of Object.entries(EXACT)) {
  test(`Token-2022 with ${name} is exact and closed`, () => {
    const { from, feeAccount, payout, inbox } = prepare(kind);
    scene.deposit(inbox, 100_000_000n, from);
    world.must([operator], [settle(inbox)]);
    assert.deepEqual([world.units(payout), world.units(feeAccount)], [99_500_000n, 500_000n]);
    assert.equal(world.exists(inbox.tokenAccount), false);
  });
}

test("a paused mint: the money waits", () => {
  const { mint, from, payout, inbox } = prepare(EXACT["a pause"] ?? assert.fail());
  scene.deposit(inbox, 1_000_000n, from);
  const setPaused = (tag: number) =>
    world.must([operator], [instruction(program, [writableMeta(mint), signerMeta(operator.address)], 44, tag)]);
  setPaused(1);
  assertRefused(scene, "paused", {
    victim: inbox,
    by: [stranger],
    instructions: [buildSettle([inbox])],
    why: /failed/,
  });
  setPaused(2);
  world.must([operator], [settle(inbox)]);
  assert.equal(world.units(payout), 995_000n);
});

test("a mint with a transfer fee takes it on each leg, and withheld fees keep the account open", () => {
  const { mint, from, feeAccount, payout, inbox } = prepare(TRANSFER_FEE);
  scene.deposit(inbox, 100_000_000n, from);
  world.must([operator], [settle(inbox)]);
  assert.deepEqual([world.units(payout), world.units(feeAccount)], [97_519_950n, 490_050n]);
  assert.ok(world.exists(inbox.tokenAccount));
  scene.deposit(inbox, 100_000_000n, from);
  world.must([stranger], [buildSettle([inbox])]);
  assert.equal(world.units(feeAccount), 2n * 490_050n);
  world.must([stranger], [instruction(program, [writableMeta(mint), writableMeta(inbox.tokenAccount)], 26, 4)]);
  world.must([operator], [settle(inbox)]);
  assert.equal(world.exists(inbox.tokenAccount), false);
});

test("a fee account that requires memos is forfeited; a payout account that does so waits", () => {
  const { from, feeAccount, payout, inbox } = prepare(EXACT["no extension"] ?? assert.fail());
  const requireMemo = (account: string, owner: Keypair, isOn: boolean) => {
    const accounts = [writableMeta(account), signerMeta(owner.address)];
    world.must([owner], [instruction(program, accounts, 30, isOn ? 0 : 1)]);
  };
  const extend = (account: string, owner: Keypair) => {
    const accounts = [
      writableMeta(account),
      writableSignerMeta(owner.address),
      readonlyMeta(systemProgram),
      signerMeta(owner.address),
    ];
    world.must([owner], [instruction(program, accounts, 29, Buffer.from([8, 0]))]);
    requireMemo(account, owner, true);
  };
  scene.deposit(inbox, 1_000_000n, from);
  extend(feeAccount, feeOwner);
  world.must([stranger], [buildSettle([inbox])]);
  assert.equal(world.units(payout), 1_000_000n);
  requireMemo(feeAccount, feeOwner, false);
  scene.deposit(inbox, 1_000_000n, from);
  world.must([stranger], [buildSettle([inbox])]);
  assert.deepEqual([world.units(payout), world.units(feeAccount)], [1_995_000n, 5_000n]);
  scene.deposit(inbox, 1_000_000n, from);
  extend(payout, merchant);
  assertRefused(scene, "memo", { victim: inbox, by: [stranger], instructions: [buildSettle([inbox])], why: /failed/ });
  requireMemo(payout, merchant, false);
  world.must([stranger], [buildSettle([inbox])]);
  assert.equal(world.units(payout), 2_990_000n);
});

test("a fee account with an unknown or malformed extension is forfeited", () => {
  const cases: readonly (readonly [string, number[], boolean])[] = [
    ["an unknown type", [200, 0, 0, 0], false],
    ["confidential transfers", [5, 0, 1, 0, 0], false],
    ["longer than the account", [7, 0, 9, 0], false],
    ["a withheld amount of another length", [2, 0, 4, 0, 0, 0, 0, 0], false],
    ["a memo switch of another length", [8, 0, 2, 0, 0, 0], false],
    ["an unknown type behind a known one", [7, 0, 0, 0, 200, 0, 0, 0], false],
    ["the end", [0, 0, 0, 0], true],
    ["a guard against other programs", [11, 0, 1, 0, 1], true],
    ["nothing", [], true],
  ];
  for (const [name, bytes, isPaid] of cases) {
    const { from, feeAccount, payout, inbox } = prepare(EXACT["no extension"] ?? assert.fail());
    scene.deposit(inbox, 1_000_000n, from);
    const { owner, data } = world.account(feeAccount) ?? assert.fail();
    world.put(feeAccount, { owner, data: Buffer.concat([data.subarray(0, 165), Buffer.of(2), Buffer.from(bytes)]) });
    const outcome = world.send([stranger], [buildSettle([inbox])]);
    assert.ok(outcome.ok, `${name}: ${outcome.reason}`);
    assert.deepEqual(
      [world.units(payout), world.units(feeAccount)],
      isPaid ? [995_000n, 5_000n] : [1_000_000n, 0n],
      name,
    );
  }
});

test("a mint with a hook program: the money waits", () => {
  const kind = extension(234, 36, 0, authority, keyBytes(scene.robber));
  const { mint, inbox } = prepare(kind);
  world.must(
    [operator],
    [
      createAssociated(operator, inbox.address, { mint, program }),
      mintTokens(operator, { mint, to: inbox.tokenAccount, units: 5n, program }),
    ],
  );
  assertRefused(scene, "hook", { victim: inbox, by: [stranger], instructions: [buildSettle([inbox])], why: /failed/ });
});

for (const [name, kind] of Object.entries(UNDEPOSITABLE)) {
  test(`a mint with ${name} cannot be deposited`, () => {
    assert.throws(() => {
      const { from, inbox } = prepare(kind);
      scene.deposit(inbox, 1n, from);
    }, /failed/);
  });
}

test("wrapped SOL is settled, and its account is never closed to the operator", () => {
  const mint = "So11111111111111111111111111111111111111112";
  const data = Buffer.alloc(82);
  data.writeUInt8(9, 44);
  data.writeUInt8(1, 45);
  world.put(mint, { owner: scene.pay().tokenProgram, data });
  const open = (owner: string) => createAssociated(payer, owner, { mint });
  const inbox = scene.pay({ mint, feeAccount: merchant.address });
  world.must([payer], [open(merchant.address), open(inbox.address), sendLamports(payer, inbox.tokenAccount, 900_000n)]);
  world.must([operator], [settle(inbox)]);
  assert.ok(world.exists(inbox.tokenAccount));
  world.must([payer], [instruction(inbox.tokenProgram, [writableMeta(inbox.tokenAccount)], 17)]);
  world.must([operator], [settle(inbox)]);
  assert.deepEqual([world.units(inbox.tokenAccount), world.exists(inbox.tokenAccount)], [0n, true]);
});

test("a mint that its issuer froze for one inbox delays only that inbox", () => {
  const { mint, from, payout, inbox } = prepare(EXACT["no extension"] ?? assert.fail());
  const other = scene.pay({
    mint,
    feeAccount: inbox.terms.kind === "pay" ? inbox.terms.feeAccount : "",
    tokenProgram: program,
  });
  for (const each of [inbox, other]) scene.deposit(each, 1_000_000n, from);
  const freeze = setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: true });
  world.must([operator], [{ ...freeze, program }]);
  assertRefused(scene, "frozen", {
    victim: inbox,
    by: [stranger],
    instructions: [buildSettle([inbox])],
    why: "FROZEN",
  });
  world.must([operator], [settle(other)]);
  assert.equal(world.units(payout), 995_000n);
});
