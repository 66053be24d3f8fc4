import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import type { CctpAccounts } from "@tributary/inbox/solana/cctp";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { buildBridge, readonlyMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import type { FurtherAccounts } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, systemProgram, token2022Program } from "@tributary/inbox/solana/keys";
import { BadMessenger } from "./support/badMessenger.ts";
import type { Mode } from "./support/badMessenger.ts";
import { DOMAIN_BASE } from "./support/cctpWorld.ts";
import { assertRefused, OTHER_TERMS, withAccount, withData } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { Scene } from "./support/scene.ts";
import {
  createAuxiliary,
  fund,
  instruction,
  sendLamports,
  tokenAccountData,
  transferTokens,
  u32,
  u64,
} from "./support/tokens.ts";
import { accountKeysOf, createKeypair } from "./support/world.ts";
import type { Keypair } from "./support/world.ts";

// The accounts that a bridge passes on for a later version of Circle's messenger, and what a messenger that turned bad makes of them.

const scene = new Scene();
const { world, operator, payer, stranger, thief, mint, otherMint, robber } = scene;
const messenger = new BadMessenger(scene);
/** How many of the messenger's accounts stand behind the further ones. */
const PLACES = [0, 2, 9, 18];
const FURTHER_MAX = 8;

type Bridging = {
  further?: FurtherAccounts;
  by?: Keypair;
  isClosing?: boolean;
  cctp?: Partial<CctpAccounts>;
};

function prepare(inbox: SolanaInbox, { further, by = stranger, isClosing = false, cctp = {} }: Bridging = {}) {
  const event = createKeypair();
  const accounts = { ...deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address }), ...cctp };
  const options = {
    cctp: accounts,
    payer: by.address,
    event: event.address,
    route: 0,
    rentRecipient: isClosing,
  } as const;
  return { signers: [by, event], made: buildBridge(inbox, further === undefined ? options : { ...options, further }) };
}

const writable = (address: string) => ({ address, isWritable: true });
const readable = (address: string) => ({ address, isWritable: false });

/** The accounts of the bridge's call of the messenger. */
function calledAccounts({ signers, made }: ReturnType<typeof prepare>): string[] {
  world.landed = [];
  world.must(signers, [made]);
  const [landed] = world.landed;
  world.landed = undefined;
  const keys = accountKeysOf(landed?.transaction ?? new Uint8Array());
  return Array.from(landed?.inner[0]?.accounts() ?? [], (index) => keys[index] ?? "");
}

/** An inbox whose messenger is the thief's program, as if Circle's had been upgraded to it. */
function turned(units = 1_000_000n): SolanaInbox {
  const inbox = scene.paidHop(units, { messenger: robber });
  world.must([operator], [sendLamports(operator, inbox.address, 5_000_000_000n)]);
  return inbox;
}

type Abuse = Bridging & { mode: Mode; victim: SolanaInbox; name: string; why: Refusal["why"] };

function abuse({ mode, victim, name, why, cctp = {}, ...bridging }: Abuse): void {
  const localToken = messenger.localOf(mode, bridging.further?.before);
  // A writable account that is nobody's, in place of the transmitter's state.
  const accounts = { localToken, transmitterState: thief.address, messengerState: thief.address, ...cctp };
  const { signers, made } = prepare(victim, { by: thief, ...bridging, cctp: accounts });
  assertRefused(scene, `${name}, ${mode}`, { victim, by: signers, instructions: [made], why });
}

test("further accounts reach the messenger in their place", () => {
  const strangers = Array.from({ length: FURTHER_MAX }, () => createKeypair().address);
  const known = calledAccounts(prepare(scene.paidHop(2_000_000n)));
  assert.equal(known.length, 18);
  for (const count of [1, 3, FURTHER_MAX]) {
    const inbox = scene.paidHop(2_000_000n);
    const accounts = strangers.slice(0, count).map(readable);
    const called = calledAccounts(prepare(inbox, { further: { accounts } }));
    assert.deepEqual(called.slice(18), strangers.slice(0, count));
    // The inbox, its token account, the event and the denylist entry are its own.
    for (const index of [1, 2, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17]) assert.equal(called[index], known[index]);
    assert.equal(world.units(inbox.tokenAccount), 0n);
  }
  for (let before = 0; before <= 18; before++) {
    const inbox = scene.paidHop(2_000_000n, { messenger: robber });
    const cctp = { localToken: messenger.localOf("honest", before) };
    const further = { accounts: strangers.slice(0, 2).map(readable), before };
    const called = calledAccounts(prepare(inbox, { further, cctp }));
    assert.deepEqual(called.slice(18 - before, 20 - before), strangers.slice(0, 2), String(before));
    const rest = called.toSpliced(18 - before, 2);
    assert.deepEqual(
      [rest[0], rest[3], rest[9], rest[13], rest[17]],
      [inbox.address, inbox.tokenAccount, cctp.localToken, robber, robber],
    );
    assert.equal(world.units(inbox.tokenAccount), 0n);
  }
});

test("a further account is writable if the caller says so and it cannot be the inbox's", () => {
  for (const before of PLACES) {
    const target = createKeypair().address;
    world.put(target, { owner: robber, data: Buffer.alloc(8) });
    const bridging = { cctp: { localToken: messenger.localOf("write", before) } };
    const inbox = scene.paidHop(2_000_000n, { messenger: robber });
    const refused = prepare(inbox, { ...bridging, further: { accounts: [readable(target)], before } });
    const attempt = { victim: inbox, by: refused.signers, instructions: [refused.made], why: /read-?only|modified/i };
    assertRefused(scene, "read only", attempt);
    const { signers, made } = prepare(inbox, { ...bridging, further: { accounts: [writable(target)], before } });
    world.must(signers, [made]);
    assert.equal(world.account(target)?.data[0], 1);
  }
});

test("the issuer's messenger ignores what it does not need", () => {
  const inbox = scene.hop();
  const { made } = prepare(inbox);
  for (const { address, isWritable } of made.accounts.slice(0, 20)) {
    if (address === made.accounts[16]?.address) continue;
    scene.deposit(inbox, 2_000_000n);
    const again = prepare(inbox, { further: { accounts: [{ address, isWritable }, readable(address)] } });
    world.must(again.signers, [again.made]);
    assert.equal(world.units(inbox.tokenAccount), 0n);
  }
  for (const address of [inbox.address, inbox.tokenAccount, mint]) {
    scene.deposit(inbox, 2_000_000n);
    const again = prepare(inbox, { further: { accounts: [writable(address)] } });
    world.must(again.signers, [again.made]);
    assert.equal(world.units(inbox.tokenAccount), 0n);
  }
});

test("another number of further accounts, or another place, is refused", () => {
  const victim = scene.paidHop(2_000_000n);
  const refuse = (name: string, { signers, made }: ReturnType<typeof prepare>, why: Refusal["why"]) =>
    assertRefused(scene, name, { victim, by: signers, instructions: [made], why });
  const plain = prepare(victim);
  const meta = readonlyMeta(systemProgram);
  const nine = { ...plain.made, accounts: [...plain.made.accounts, ...Array(9).fill(meta)] };
  refuse("nine", { ...plain, made: nine }, "ACCOUNTS");
  const twelve = { ...plain.made, accounts: [...plain.made.accounts, ...Array(12).fill(meta)] };
  refuse("as many as a call may have", { ...plain, made: twelve }, "ACCOUNTS");
  const thirteen = { ...plain.made, accounts: [...plain.made.accounts, ...Array(13).fill(meta)] };
  refuse("more than a call may have", { ...plain, made: thirteen }, "ACCOUNTS");
  for (const option of [2, 4, 36, 37, 255])
    refuse(`option ${option} without them`, { ...plain, made: withData(plain.made, 2, option) }, "ROUTE");
  const one = prepare(victim, { further: { accounts: [readable(systemProgram)] } });
  for (const option of [38, 39, 64, 254, 255])
    refuse(`option ${option}`, { ...one, made: withData(one.made, 2, option) }, "ROUTE");
  const eight = Array.from({ length: 9 }, () => readable(systemProgram));
  assert.throws(() => prepare(victim, { further: { accounts: eight } }), /at most 8/);
  for (const before of [-1, 19])
    assert.throws(
      () => prepare(victim, { further: { accounts: [readable(systemProgram)], before } }),
      /before 0 to 18/,
    );
  assert.throws(() => prepare(victim, { further: { accounts: [], before: 1 } }), /before 0/);
});

test("eight further accounts fit into a transaction, with a limit and a price of compute units for the operator", () => {
  const further = { accounts: Array.from({ length: FURTHER_MAX }, () => readable(createKeypair().address)) };
  const budgetProgram = "ComputeBudget111111111111111111111111111111";
  const budget = [instruction(budgetProgram, [], 2, u32(60_000)), instruction(budgetProgram, [], 3, u64(1_000n))];
  const inbox = scene.paidHop(2_000_000n);
  const { signers, made } = prepare(inbox, { by: operator, isClosing: true, further });
  assert.equal(world.must(signers, [...budget, made]).bytes, 1_217);
  const other = scene.paidHop(2_000_000n);
  const strange = prepare(other, { further });
  assert.equal(world.must(strange.signers, [strange.made]).bytes, 1_197);
});

test("a messenger that turned bad moves nothing else of the inbox through further accounts", () => {
  for (const before of PLACES) {
    const victim = turned();
    const aside = createAuxiliary(world, operator, { mint, owner: victim.address });
    world.must(
      [payer],
      [transferTokens({ from: scene.payerAccount, to: aside, mint, owner: payer.address, units: 9n })],
    );
    const empty = createAuxiliary(world, operator, { mint, owner: victim.address });
    const foreign = fund(world, operator, { owner: victim.address, mint: otherMint, units: 5n });
    const ofToken2022 = createKeypair().address;
    const data = tokenAccountData({ mint, owner: victim.address, units: 5n });
    world.put(ofToken2022, { owner: token2022Program, data });
    const attempt = (name: string, mode: Mode, address: string) => ({
      why: (why: Refusal["why"]) =>
        abuse({ mode, victim, name, why, further: { accounts: [writable(address)], before } }),
    });
    const state = () => [aside, empty, foreign, ofToken2022, victim.address].map((address) => world.account(address));
    const unmoved = state();
    attempt("a delegate of another account", "otherAccount", aside).why(OTHER_TERMS);
    attempt("a delegate of another mint's account", "otherAccount", foreign).why(OTHER_TERMS);
    attempt("a delegate of an account of Token-2022", "otherAccount", ofToken2022).why(
      /privilege|unauthorized|incorrect program|owner/i,
    );
    attempt("a unit of another account", "transferOther", aside).why(OTHER_TERMS);
    attempt("the rent of another account", "closeOther", empty).why(OTHER_TERMS);
    attempt("the inbox's lamports", "lamports", victim.address).why(OTHER_TERMS);
    attempt("the inbox itself", "assign", victim.address).why(OTHER_TERMS);
    attempt("the inbox's lamports by another name", "spend", victim.address).why(OTHER_TERMS);
    assert.deepEqual(state(), unmoved);
    attempt("the owner", "owner", thief.address).why("LEFT");
    attempt("a delegate", "delegate", thief.address).why("LEFT");
    attempt("a close authority", "closer", thief.address).why("LEFT");
    attempt("a burn of less", "less", thief.address).why("LEFT");
    attempt("no burn", "idle", thief.address).why("LEFT");
    attempt("the balance", "transfer", scene.thiefAccount).why(OTHER_TERMS);
  }
});

test("no signature of the transaction goes on with a further account", () => {
  const victim = turned();
  const { recoverer } = scene;
  for (const before of PLACES) {
    for (const [signer, name] of [
      [operator, "the rent recipient's"],
      [recoverer, "the recovery key's"],
      [payer, "a payer's"],
    ] as const) {
      const cctp = { localToken: messenger.localOf("spend", before), transmitterState: thief.address };
      const further = { accounts: [writable(signer.address)], before };
      const { signers, made } = prepare(victim, { by: thief, cctp, further });
      const signed = withAccount(made, 20, writableSignerMeta(signer.address));
      const held = world.lamports(signer.address);
      assertRefused(scene, name, { victim, by: [...signers, signer], instructions: [signed], why: OTHER_TERMS });
      assert.equal(world.lamports(signer.address), held);
    }
  }
});

test("a messenger that turned bad opens no account to which later deposits go", () => {
  const bait = { further: undefined, cctp: { senderAuthority: associatedTokenProgram } };
  // Somebody's token account of the inbox stands aside, so that the inbox's associated one need not exist.
  const prepareVictim = () => {
    const inbox = scene.hop({ messenger: robber });
    const aside = createAuxiliary(world, thief, { mint, owner: inbox.address });
    world.must(
      [payer],
      [transferTokens({ from: scene.payerAccount, to: aside, mint, owner: payer.address, units: 2_000_000n })],
    );
    return { inbox, victim: { ...inbox, tokenAccount: aside } };
  };
  const { inbox, victim } = prepareVictim();
  const accounts = { ...bait.cctp, transmitterState: inbox.tokenAccount };
  abuse({ mode: "open", victim, name: "in place of the transmitter's state", why: "LEFT", cctp: accounts });
  for (const before of PLACES) {
    const further = { accounts: [writable(inbox.tokenAccount)], before };
    abuse({ mode: "open", victim, name: "as a further account", why: "LEFT", cctp: bait.cctp, further });
    const second = { accounts: [writable(inbox.tokenAccount), ...Array(7).fill(writable(thief.address))], before };
    abuse({ mode: "open", victim, name: "as one of eight", why: "LEFT", cctp: bait.cctp, further: second });
    const unwritable = { accounts: [readable(inbox.tokenAccount)], before };
    abuse({ mode: "open", victim, name: "read only", why: OTHER_TERMS, cctp: bait.cctp, further: unwritable });
  }
  abuse({ mode: "openEvent", victim, name: "as the event", why: "LEFT", cctp: bait.cctp });
  world.must([operator], [sendLamports(operator, inbox.tokenAccount, 1_000_000n)]);
  abuse({ mode: "open", victim, name: "with lamports", why: "LEFT", cctp: accounts });
  assert.equal(world.account(inbox.tokenAccount)?.owner, systemProgram);
});

test("a messenger that turned bad does not close the token account for its lamports", () => {
  const victim = turned();
  world.must([operator], [sendLamports(operator, victim.tokenAccount, 1_000_000n)]);
  const cctp = { senderAuthority: associatedTokenProgram };
  for (const before of PLACES) {
    const further = { accounts: [writable(thief.address)], before };
    abuse({ mode: "reopen", victim, name: "closed and opened", why: "LEFT", cctp, further });
  }
});

test("a messenger that turned bad does not call the program back through further accounts", () => {
  const victim = turned();
  for (const before of PLACES) {
    const further = { accounts: [writable(thief.address), readable(scene.program), readable(robber)], before };
    abuse({
      mode: "callBack",
      victim,
      name: "back",
      why: /reentrancy/i,
      cctp: { transmitter: scene.program },
      further,
    });
  }
});
