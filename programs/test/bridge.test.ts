import assert from "node:assert/strict";
import { test } from "node:test";
import { deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { buildBridge, readonlyMeta } from "@tributary/inbox/solana/instructions";
import { systemProgram } from "@tributary/inbox/solana/keys";
import {
  BURN_LIMIT,
  DOMAIN_BASE,
  LOCAL_LIMIT,
  MESSENGER_FEE_MIN,
  MINTER_PAUSED,
  readBurnMessage,
} from "./support/cctpWorld.ts";
import { assertRefused, withAccount, withData } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { evmInbox, Scene } from "./support/scene.ts";
import {
  AUTHORITY_CLOSER,
  AUTHORITY_OWNER,
  createAuxiliary,
  setAuthority,
  setFrozen,
  transferTokens,
} from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";
import type { Keypair } from "./support/world.ts";

const scene = new Scene();
const { world, operator, stranger, mint } = scene;
const cctpOf = (inbox: SolanaInbox) => deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
const states = cctpOf(scene.hop());

type Bridging = { route?: 0 | 1; by?: Keypair; isClosing?: boolean };

function prepare(inbox: SolanaInbox, { route = 0, by = stranger, isClosing = false }: Bridging = {}) {
  const event = createKeypair();
  const options = { cctp: cctpOf(inbox), payer: by.address, event: event.address, route, rentRecipient: isClosing };
  return { event: event.address, signers: [by, event], instruction: buildBridge(inbox, options) };
}

function bridge(inbox: SolanaInbox, bridging?: Bridging): string {
  const { event, signers, instruction } = prepare(inbox, bridging);
  world.must(signers, [instruction]);
  return event;
}

function refuse(name: string, victim: SolanaInbox, why: Refusal["why"]): void {
  const { signers, instruction } = prepare(victim);
  assertRefused(scene, name, { victim, by: signers, instructions: [instruction], why });
}

test("a stranger bridges the whole balance, and the message says what the terms say", () => {
  const inbox = scene.paidHop(100_000_001n);
  const supply = world.supply(mint);
  const message = readBurnMessage(world, bridge(inbox));
  assert.equal(supply - world.supply(mint), 100_000_001n);
  assert.equal(world.units(inbox.tokenAccount), 0n);
  assert.deepEqual(message, {
    rentPayer: stranger.address,
    version: 1,
    source: 5,
    domain: DOMAIN_BASE,
    sender: scene.hopTerms.messenger,
    caller: "00".repeat(32),
    threshold: 1_000,
    burnToken: mint,
    recipient: evmInbox("ab"),
    amount: 100_000_001n,
    depositor: inbox.address,
    feeMax: 300_001n,
  });
  assert.ok(world.exists(inbox.tokenAccount));
});

test("the operator takes the standard route and closes the account", () => {
  const inbox = scene.paidHop(50_000_000n);
  const { feeMax, threshold } = readBurnMessage(world, bridge(inbox, { route: 1, by: operator, isClosing: true }));
  assert.deepEqual([feeMax, threshold], [50_000n, 2_000]);
  assert.equal(world.exists(inbox.tokenAccount), false);
});

test("an empty inbox is closed and nothing is burned", () => {
  const inbox = scene.paidHop(2_000_000n);
  bridge(inbox);
  const supply = world.supply(mint);
  const event = bridge(inbox);
  assert.equal(world.exists(event), false);
  assert.ok(world.exists(inbox.tokenAccount));
  bridge(inbox, { by: operator, isClosing: true });
  assert.equal(world.exists(inbox.tokenAccount), false);
  assert.equal(world.supply(mint), supply);
});

test("less than the minimum waits", () => {
  const inbox = scene.paidHop(999_999n);
  refuse("a unit less", inbox, "MINIMUM");
  scene.deposit(inbox, 1n);
  bridge(inbox);
  assert.equal(world.units(inbox.tokenAccount), 0n);
});

test("a cap is compared with the issuer's minimum fee: below it the money waits", () => {
  const inbox = scene.paidHop(1_000_000n);
  const setFeeMin = (fee: number) =>
    world.edit(states.messengerState, (data) => data.writeUInt32LE(fee, MESSENGER_FEE_MIN));
  setFeeMin(40_000);
  refuse("below", inbox, 6026);
  setFeeMin(30_000);
  bridge(inbox);
  setFeeMin(0);
});

test("paused or denied by the issuer: the money waits", () => {
  const inbox = scene.paidHop(5_000_000n);
  world.edit(states.minter, (data) => data.writeUInt8(1, MINTER_PAUSED));
  refuse("paused", inbox, 6002);
  world.edit(states.minter, (data) => data.writeUInt8(0, MINTER_PAUSED));
  const { denylist } = cctpOf(inbox);
  world.put(denylist, { owner: scene.hopTerms.messenger, data: Buffer.alloc(40, 1) });
  refuse("denied", inbox, 6021);
  world.remove(denylist);
  bridge(inbox);
});

test("more than the issuer burns at once goes in parts", () => {
  const setLimit = (limit: bigint) =>
    world.edit(states.localToken, (data) => data.writeBigUInt64LE(limit, LOCAL_LIMIT));
  const inbox = scene.paidHop(5_000_000n);
  setLimit(3_000_000n);
  bridge(inbox, { by: operator, isClosing: true });
  assert.equal(world.units(inbox.tokenAccount), 2_000_000n);
  bridge(inbox);
  assert.equal(world.units(inbox.tokenAccount), 0n);
  scene.deposit(inbox, 5_000_000n);
  setLimit(999_999n);
  refuse("a limit below the minimum", inbox, "MINIMUM");
  setLimit(0n);
  refuse("no limit", inbox, "MINIMUM");
  const tiny = scene.paidHop(5n, { minAmount: 0n });
  refuse("no limit and no minimum", tiny, "MINIMUM");
  setLimit(BURN_LIMIT);
});

test("the cap of the fee is rounded up, for every amount", () => {
  world.edit(states.localToken, (data) => data.writeBigUInt64LE(2n ** 64n - 1n, LOCAL_LIMIT));
  const inbox = scene.paidHop(10_000_000n, {
    minAmount: 0n,
    routes: [
      { feePpmMax: 99_999, finalityThreshold: 1 },
      { feePpmMax: 0, finalityThreshold: 2_000 },
    ],
  });
  for (const units of [2n, 3n, 999_999n, 1_000_001n, 10n ** 16n + 1n, 2n ** 40n - 1n]) {
    world.setUnits(inbox.tokenAccount, units);
    world.edit(mint, (data) => data.writeBigUInt64LE(2n ** 63n, 36));
    const message = readBurnMessage(world, bridge(inbox));
    assert.equal(message.feeMax, (units * 99_999n + 999_999n) / 1_000_000n);
    assert.equal(message.amount, units);
    world.setUnits(inbox.tokenAccount, units);
    assert.equal(readBurnMessage(world, bridge(inbox, { route: 1 })).feeMax, 0n);
  }
  world.setUnits(inbox.tokenAccount, 1n);
  refuse("one unit: the cap is not below the amount", inbox, 6027);
  world.edit(states.localToken, (data) => data.writeBigUInt64LE(BURN_LIMIT, LOCAL_LIMIT));
});

test("a route without a threshold or above the highest cap does not exist", () => {
  const inbox = scene.paidHop(5_000_000n, {
    routes: [
      { feePpmMax: 3_000, finalityThreshold: 1_000 },
      { feePpmMax: 1_000, finalityThreshold: 0 },
    ],
  });
  const made = prepare(inbox, { route: 1 });
  assertRefused(scene, "no threshold", {
    victim: inbox,
    by: made.signers,
    instructions: [made.instruction],
    why: "ROUTE",
  });
  const cap = scene.paidHop(5_000_000n, {
    routes: [
      { feePpmMax: 100_000, finalityThreshold: 1 },
      { feePpmMax: 0, finalityThreshold: 0 },
    ],
  });
  const { signers, instruction } = prepare(cap);
  const above = withData(instruction, 23, 0xa1, 0x86, 0x01, 0);
  assertRefused(scene, "100,001", { victim: cap, by: signers, instructions: [above], why: "ROUTE" });
  bridge(cap);
});

test("a third route is refused, even one that the salt spells", () => {
  const salt = `0x${["00000000", "01000000", "ab".repeat(24)].join("")}` as const;
  const inbox = scene.paidHop(9_000_000n, { salt: `0x${"000000" + "01000000" + "ab".repeat(25)}` });
  for (const victim of [inbox, scene.paidHop(9_000_000n, { salt })]) {
    for (const option of [2, 3, 255]) {
      const { signers, instruction } = prepare(victim);
      assertRefused(scene, String(option), {
        victim,
        by: signers,
        instructions: [withData(instruction, 2, option)],
        why: "ROUTE",
      });
    }
  }
});

test("a frozen inbox: the money waits", () => {
  const inbox = scene.paidHop(5_000_000n);
  world.must([operator], [setFrozen(inbox.tokenAccount, mint, { authority: operator, isFrozen: true })]);
  refuse("frozen", inbox, "FROZEN");
});

test("an account with another's close authority is bridged, and stays open", () => {
  const { thief, payer, payerAccount } = scene;
  const inbox = scene.hop();
  const trap = createAuxiliary(world, thief, { mint, owner: thief.address });
  world.must(
    [thief],
    [
      setAuthority(trap, thief, { role: AUTHORITY_CLOSER, to: thief.address }),
      setAuthority(trap, thief, { role: AUTHORITY_OWNER, to: inbox.address }),
    ],
  );
  world.must(
    [payer],
    [transferTokens({ from: payerAccount, to: trap, mint, owner: payer.address, units: 4_000_000n })],
  );
  bridge({ ...inbox, tokenAccount: trap }, { by: operator, isClosing: true });
  assert.deepEqual([world.exists(trap), world.units(trap)], [true, 0n]);
});

test("another number of accounts or inboxes is refused", () => {
  const inbox = scene.paidHop(5_000_000n);
  const { signers, instruction } = prepare(inbox);
  const refuseChanged = (name: string, change: Partial<typeof instruction>, why: Refusal["why"]) =>
    assertRefused(scene, name, { victim: inbox, by: signers, instructions: [{ ...instruction, ...change }], why });
  const { accounts, data } = instruction;
  refuseChanged("one account less", { accounts: accounts.slice(0, -1) }, "ACCOUNTS");
  refuseChanged("two inboxes", { data: Uint8Array.from([...data, ...data.slice(39)]) }, "ACCOUNTS");
  refuseChanged("a byte more", { data: Uint8Array.from([...data, 0]) }, "DATA");
  refuseChanged("no inbox", { data: data.slice(0, 39) }, "DATA");
  refuseChanged("kind pay", { data: Uint8Array.from([1, 0, 0, ...data.slice(3, 13), ...data.slice(39)]) }, "KIND");
  assert.equal(withAccount(instruction, 18, readonlyMeta(systemProgram)).accounts.length, accounts.length);
});
