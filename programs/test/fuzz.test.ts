import assert from "node:assert/strict";
import { test } from "node:test";
import process from "node:process";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { lamportsPrimed, lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import type { SolanaPayTerms } from "@tributary/inbox/solana/terms";
import { BURN_LIMIT } from "./support/cctpWorld.ts";
import { Fuzzer, INSTRUCTIONS } from "./support/fuzzer.ts";
import { burned, feeBpsOf, gained, lamportsGained, takeSnapshot, totalUnits } from "./support/ledger.ts";
import type { Snapshot } from "./support/ledger.ts";
import { Random } from "./support/random.ts";
import { RECOVER_AFTER, Scene, START } from "./support/scene.ts";
import { associated, tokenAccountData } from "./support/tokens.ts";
import type { Keypair } from "./support/world.ts";

// Random instructions against the invariants: conservation, destination, exact fee, idempotence, authorities and
// lamports.

/** A sample; `npm run test:deep` runs twice 20,000. */
const ROUNDS = Number(process.env["TRIBUTARY_FUZZ_ROUNDS"] ?? 4_000);
const SEED = process.env["TRIBUTARY_FUZZ_SEED"] ?? "fuzz";

const scene = new Scene();
const { world, mint, operator, stranger, thief, recoverer, merchant } = scene;
const random = new Random(SEED);
const batch = Array.from({ length: 3 }, () => scene.paid(1n));
const others = [
  scene.paid(1n, { feeBps: 1_000, recovery: merchant.address }),
  scene.paid(1n, { feeBps: 0 }),
  scene.paidHop(1n),
  scene.paidHop(1n, { minAmount: 0n }),
];
const inboxes = [...batch, ...others];
/** An inbox under terms of the thief's own. */
const own = scene.pay({ ...ownTerms(), salt: scene.nextSalt() });
scene.deposit(own, 10n);
const fuzzer = new Fuzzer(scene, random, { batch, others: [...others, own] });
const nestedOf = ({ tokenAccount }: SolanaInbox) => associated(tokenAccount, mint);
const rescued = associated(recoverer.address, mint);
const nested = inboxes.map(nestedOf);
const nestedOfOwn = nestedOf(own);
const watched = [
  ...inboxes.flatMap(({ address, tokenAccount }) => [address, tokenAccount]),
  ...nested,
  own.address,
  own.tokenAccount,
  nestedOfOwn,
  rescued,
  scene.payoutAccount,
  scene.feeAccount,
  scene.thiefAccount,
  scene.payerAccount,
  ...[thief, stranger, operator, recoverer].map(({ address }) => address),
];

function ownTerms(): Partial<SolanaPayTerms> {
  const { address } = thief;
  return {
    payout: address,
    feeAccount: scene.thiefAccount,
    rentRecipient: address,
    recovery: address,
    recoverAfter: 0,
  };
}

/** Keeps something to steal in every inbox. */
function refill(): void {
  for (const inbox of [...inboxes, own]) {
    if (random.below(3) !== 0) continue;
    const units = random.u64() >> BigInt(20 + random.below(40));
    const data = tokenAccountData({ mint, owner: inbox.address, units });
    if (world.units(inbox.tokenAccount) === 0n)
      world.put(inbox.tokenAccount, { owner: inbox.tokenProgram, data, lamports: world.rent(165) });
    if (world.lamports(inbox.address) === 0n)
      world.put(inbox.address, {
        ...wallet(),
        lamports: random.pick([lamportsPrimed, lamportsPrimed + 5n, 5_000_000_000n, lamportsRentEnd]),
      });
    if (random.below(4) === 0) {
      const nestedData = tokenAccountData({ mint, owner: inbox.tokenAccount, units: 1n + BigInt(random.below(1_000)) });
      world.put(nestedOf(inbox), { owner: inbox.tokenProgram, data: nestedData, lamports: world.rent(165) });
    }
  }
  world.put(fuzzer.event.address, { ...wallet(), lamports: 0n });
  for (const account of [scene.payoutAccount, scene.feeAccount, rescued])
    if (world.units(account) > 2n ** 60n) world.setUnits(account, 0n);
  world.edit(mint, (data) => data.writeBigUInt64LE(2n ** 63n, 36));
}

function wallet() {
  return { owner: "11111111111111111111111111111111", data: Buffer.alloc(0) };
}

function checkTokens(before: Snapshot, after: Snapshot, isRecovering: boolean): void {
  assert.equal(totalUnits(before) - totalUnits(after), burned(before, after), "conservation");
  const ownGain = -gained(before, after, own.tokenAccount) - gained(before, after, nestedOfOwn);
  assert.ok(gained(before, after, scene.thiefAccount) <= ownGain, "the thief gained");
  const left = new Map(inboxes.map((inbox) => [inbox, -gained(before, after, inbox.tokenAccount)]));
  let [fee, paid, hopped, received] = [0n, 0n, 0n, 0n];
  for (const [inbox, units] of left) {
    if (units < 0n) received -= units - gained(before, after, nestedOf(inbox));
    if (units <= 0n) continue;
    const held = before.holdings.get(inbox.tokenAccount)?.units ?? 0n;
    const isAtLimit = inbox.terms.kind === "hop" && units === BURN_LIMIT && held > BURN_LIMIT;
    assert.ok(isAtLimit || units === held, "a movement takes the whole balance");
    fee += (units * feeBpsOf(inbox)) / 10_000n;
    if (inbox.terms.kind === "pay") paid += units;
    else hopped += units;
  }
  if (ownGain > 0n) {
    assert.equal(paid + hopped, 0n, "one instruction has one list of terms");
    return;
  }
  const withoutFee = gained(before, after, scene.payoutAccount) + gained(before, after, rescued);
  assert.equal(gained(before, after, scene.feeAccount), fee, "exact fee");
  if (isRecovering)
    assert.equal(
      withoutFee + fee + burned(before, after) + extra(before, after) + received - ownGain,
      paid + hopped,
      "destination of a rescue",
    );
  else {
    assert.equal(received, 0n, "only unnesting adds");
    assert.equal(burned(before, after), hopped, "a hop burns");
    assert.equal(gained(before, after, scene.payoutAccount) + fee, paid, "a payout goes to the payout wallet");
    assert.equal(gained(before, after, rescued), 0n, "nothing is rescued early");
  }
}

/** A rescue by a changed instruction may name any token account as its destination. */
function extra(before: Snapshot, after: Snapshot): bigint {
  return gained(before, after, scene.thiefAccount) + gained(before, after, scene.payerAccount);
}

function checkAuthorities(before: Snapshot, after: Snapshot): void {
  for (const { tokenAccount } of inboxes) {
    const now = after.holdings.get(tokenAccount)?.authorities;
    if (now !== "")
      assert.equal(now, before.holdings.get(tokenAccount)?.authorities, "owner, delegate and close authority");
  }
}

/** A rescue from recoverAfter on may send lamports anywhere. */
function checkLamports(before: Snapshot, after: Snapshot, by: readonly Keypair[]): void {
  const signed = (key: Keypair) => by.includes(key);
  const ownLamports = [own.address, own.tokenAccount, nestedOfOwn].reduce(
    (sum, key) => sum - lamportsGained(before, after, key),
    0n,
  );
  // The recovery key names the receiver of what it rescues.
  const strangers = signed(recoverer) || signed(merchant) ? [] : [thief, stranger];
  for (const { address } of strangers)
    assert.ok(
      lamportsGained(before, after, address) <= (ownLamports > 0n ? ownLamports : 0n),
      "lamports of a stranger",
    );
  for (const { address, tokenAccount } of inboxes) {
    const lost = -lamportsGained(before, after, address);
    const had = before.holdings.get(address)?.lamports ?? 0n;
    if (lost > 0n && !signed(recoverer) && !signed(merchant)) {
      assert.ok(signed(operator) && lost === had && had < lamportsRentEnd, "only a rent is reclaimed");
    }
    const isClosed = lamportsGained(before, after, tokenAccount) < 0n;
    if (isClosed)
      assert.ok(signed(operator) && after.holdings.get(tokenAccount)?.units === 0n, "only the operator closes");
  }
}

test(`${ROUNDS} random instructions keep every invariant, and a third of them succeed`, () => {
  const successes = new Map<string, number>(INSTRUCTIONS.map((name) => [name, 0]));
  let after: Snapshot | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const isLate = random.below(3) === 0;
    world.setTime(isLate ? RECOVER_AFTER : START);
    if (round % 2 === 0) {
      refill();
      after = undefined;
    }
    const recovers = random.below(2) === 0 ? [random.pick([recoverer, recoverer, merchant])] : [];
    const signers = [random.pick([thief, stranger]), thief, ...(random.below(2) === 0 ? [operator] : []), ...recovers];
    const { name, instruction, by } = fuzzer.next([...new Set(signers)]);
    const before = after ?? takeSnapshot(world, watched, mint);
    const outcome = world.send(by, [instruction]);
    if (!outcome.ok) {
      // Only the fee is gone.
      after = before;
      continue;
    }
    after = takeSnapshot(world, watched, mint);
    const isRecovering = isLate && recovers.length > 0;
    checkTokens(before, after, isRecovering);
    checkAuthorities(before, after);
    if (!isRecovering) checkLamports(before, after, by);
    successes.set(name, (successes.get(name) ?? 0) + 1);
  }
  const total = successes.values().reduce((sum, count) => sum + count, 0);
  assert.ok(total * 3 >= ROUNDS, `only ${total} of ${ROUNDS} succeeded`);
  for (const [name, count] of successes) assert.ok(count * 100 >= ROUNDS, `${name} succeeded ${count} times`);
});
