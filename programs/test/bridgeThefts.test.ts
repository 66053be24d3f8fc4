import { test } from "node:test";
import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import type { CctpAccounts } from "@tributary/inbox/solana/cctp";
import {
  buildBridge,
  buildSettle,
  readonlyMeta,
  signerMeta,
  writableMeta,
  writableSignerMeta,
} from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { systemProgram, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaHopTerms } from "@tributary/inbox/solana/terms";
import assert from "node:assert/strict";
import { BadMessenger } from "./support/badMessenger.ts";
import type { Mode } from "./support/badMessenger.ts";
import { DOMAIN_BASE, installRemote } from "./support/cctpWorld.ts";
import { assertRefused, OTHER_TERMS, proxied, withAccount } from "./support/refusals.ts";
import type { Refusal } from "./support/refusals.ts";
import { evmInbox, saltOf, Scene } from "./support/scene.ts";
import { approve, createAuxiliary, instruction, sendLamports, transferTokens, u32, u64 } from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";

// Every way that a thief may try to divert a burn, or to keep a hold on later deposits, with and without the messenger
// on his side.

const scene = new Scene();
const { world, operator, thief, mint, otherMint, thiefAccount, robber } = scene;
const victim = scene.paidHop(500_000_000n);
const victimTerms = victim.terms as SolanaHopTerms;
const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: victim.address });
/** The bait: lamports that the inbox could pay with. */
world.must([operator], [sendLamports(operator, victim.address, 5_000_000_000n)]);

const messenger = new BadMessenger(scene);
const localOf = (mode: Mode) => messenger.localOf(mode);

const event = createKeypair();

function take(change: Partial<SolanaHopTerms>, accounts: Partial<CctpAccounts> = {}): SolanaInstruction {
  const forged = {
    ...scene.compute({ ...victimTerms, ...change }),
    address: victim.address,
    tokenAccount: victim.tokenAccount,
  };
  return buildBridge(forged, { cctp: { ...cctp, ...accounts }, payer: thief.address, event: event.address, route: 0 });
}

function refuse(name: string, made: SolanaInstruction, why: Refusal["why"]): void {
  const by = made.accounts.some(({ address, isSigner }) => isSigner && address === event.address)
    ? [thief, event]
    : [thief];
  assertRefused(scene, name, { victim, by, instructions: [made], why });
}

const honest = take({});

test("no term can be another one", () => {
  const remote = installRemote(world, mint, 0);
  const [fast, standard] = victimTerms.routes;
  refuse("domain", take({ domain: 0 }, { remoteMessenger: remote }), OTHER_TERMS);
  refuse("recipient", take({ mintRecipient: evmInbox("ee") }), OTHER_TERMS);
  refuse("higher cap", take({ routes: [{ ...fast, feePpmMax: 99_999 }, standard] }), OTHER_TERMS);
  refuse("threshold", take({ routes: [{ ...fast, finalityThreshold: 500 }, standard] }), OTHER_TERMS);
  refuse("the other route", take({ routes: [fast, { ...standard, feePpmMax: 1 }] }), OTHER_TERMS);
  refuse("minimum", take({ minAmount: 0n }), OTHER_TERMS);
  refuse("recoverAfter", take({ recoverAfter: 0 }), OTHER_TERMS);
  refuse("recovery key", take({ recovery: thief.address }), OTHER_TERMS);
  refuse("salt", take({ salt: saltOf(999_999) }), OTHER_TERMS);
  refuse("mint", take({ mint: otherMint }), "INBOX");
  const rent = scene.compute({ ...victimTerms, rentRecipient: thief.address });
  const options = { cctp, payer: thief.address, event: event.address, route: 0 as const, rentRecipient: true };
  const signed = buildBridge({ ...rent, address: victim.address, tokenAccount: victim.tokenAccount }, options);
  refuse("rent recipient who signs", signed, OTHER_TERMS);
});

test("another messenger never receives the inbox's signature", () => {
  const accounts = { localToken: localOf("transfer"), transmitterState: thiefAccount };
  refuse("the thief's", take({ messenger: robber }, { localToken: localOf("transfer") }), OTHER_TERMS);
  refuse("the thief's, with its own account in reach", take({ messenger: robber }, accounts), "PROGRAM");
  refuse("the thief's, with the issuer's accounts", take({ messenger: robber }), "PROGRAM");
  world.must([thief], [approve(thiefAccount, thief.address, thief)]);
  refuse("the token program", take({ messenger: tokenProgram }, { localToken: thiefAccount }), "PROGRAM");
});

test("accounts of others in place of the issuer's are refused", () => {
  refuse("the account of another domain", take({}, { remoteMessenger: installRemote(world, mint, 3) }), 6007);
  refuse("transmitter", take({}, { transmitter: robber }), 3008);
  refuse("limit of the thief's", take({}, { localToken: localOf("transfer") }), "PROGRAM");
  refuse("a short account as limit", take({}, { localToken: cctp.remoteMessenger }), "PROGRAM");
  refuse("a longer account as limit", take({}, { localToken: cctp.messengerState }), "PROGRAM");
  refuse("denylist entry", take({}, { denylist: cctp.remoteMessenger }), 2006);
  refuse("sender authority", take({}, { senderAuthority: thief.address }), 2006);
  refuse("event authority", take({}, { eventAuthority: thief.address }), 2006);
  refuse("the thief's state of the messenger", take({}, { messengerState: localOf("transfer") }), 3007);
  refuse("Token-2022", withAccount(honest, 1, readonlyMeta(token2022Program)), "MINT");
});

test("event and payer sign themselves", () => {
  refuse("the inbox pays", withAccount(honest, 8, writableMeta(victim.address)), "SIGNER");
  refuse("the inbox becomes the event", withAccount(honest, 16, writableMeta(victim.address)), "SIGNER");
  refuse("an event that does not sign", withAccount(honest, 16, writableMeta(createKeypair().address)), "SIGNER");
  refuse("a payer that does not sign", withAccount(honest, 8, writableMeta(operator.address)), "SIGNER");
  refuse("the payer as event", withAccount(honest, 16, writableSignerMeta(thief.address)), 4101);
});

test("nothing else of the inbox is in the messenger's reach", () => {
  const aside = createAuxiliary(world, thief, { mint: otherMint, owner: victim.address });
  refuse("the inbox itself", take({}, { transmitterState: victim.address }), "PROGRAM");
  refuse("another token account of it", take({}, { transmitterState: aside }), "PROGRAM");
  refuse("its own token account once more", take({}, { transmitterState: victim.tokenAccount }), "PROGRAM");
  const key = createKeypair();
  world.put(key.address, { owner: tokenProgram, data: world.account(aside)?.data ?? Buffer.alloc(0) });
  for (const [index, name] of [
    [8, "as payer"],
    [16, "as event"],
  ] as const) {
    const made = withAccount(honest, index, writableSignerMeta(key.address));
    const by = index === 8 ? [thief, event, key] : [thief, key];
    assertRefused(scene, name, { victim, by, instructions: [made], why: "PROGRAM" });
    world.put(key.address, { owner: token2022Program, data: world.account(aside)?.data ?? Buffer.alloc(0) });
    assertRefused(scene, name, { victim, by, instructions: [made], why: "PROGRAM" });
    world.put(key.address, { owner: tokenProgram, data: world.account(aside)?.data ?? Buffer.alloc(0) });
  }
});

test("a wallet does not stand in for the inbox", () => {
  refuse(
    "the thief's account",
    buildBridge(
      { ...victim, tokenAccount: thiefAccount },
      { cctp, payer: thief.address, event: event.address, route: 0 },
    ),
    "INBOX",
  );
  const signing = buildBridge(
    { ...victim, tokenAccount: thiefAccount, address: thief.address },
    { cctp, payer: thief.address, event: event.address, route: 0 },
  );
  refuse("with its signature", withAccount(signing, 7, signerMeta(thief.address)), "PDA");
});

test("an inbox of one kind is not used as the other", () => {
  const pay = scene.compute({ ...scene.payTerms, salt: victimTerms.salt });
  const settling = buildSettle([{ ...pay, tokenAccount: victim.tokenAccount, address: victim.address }]);
  refuse("settled here", settling, OTHER_TERMS);
  const here = scene.paid(7_000_000n);
  const hop = {
    ...scene.compute({ ...victimTerms, salt: here.terms.salt }),
    tokenAccount: here.tokenAccount,
    address: here.address,
  };
  const made = buildBridge(hop, { cctp, payer: thief.address, event: event.address, route: 0 });
  assertRefused(scene, "bridged away", { victim: here, by: [thief, event], instructions: [made], why: OTHER_TERMS });
});

test("the issuer's program takes no burn from a thief", () => {
  const data = [
    Buffer.from([215, 60, 61, 46, 114, 55, 128, 176]),
    u64(5n),
    u32(6),
    Buffer.alloc(64, 1),
    u64(1n),
    u32(1_000),
  ];
  const accounts = [
    readonlyMeta(victim.address),
    writableSignerMeta(thief.address),
    readonlyMeta(cctp.senderAuthority),
    writableMeta(victim.tokenAccount),
    readonlyMeta(cctp.denylist),
    writableMeta(cctp.transmitterState),
    readonlyMeta(cctp.messengerState),
    readonlyMeta(cctp.remoteMessenger),
    readonlyMeta(cctp.minter),
    writableMeta(cctp.localToken),
    writableMeta(mint),
    writableSignerMeta(event.address),
    readonlyMeta(cctp.transmitter),
    readonlyMeta(cctpMessenger),
    readonlyMeta(tokenProgram),
    readonlyMeta(systemProgram),
    readonlyMeta(cctp.eventAuthority),
    readonlyMeta(cctpMessenger),
  ];
  refuse("the inbox does not sign", instruction(cctpMessenger, accounts, ...data), 3010);
});

test("a messenger that turns bad gets no hold on later deposits", () => {
  // The terms pin the thief's program, as if the issuer's had been upgraded.
  const aside = createAuxiliary(world, thief, { mint, owner: thief.address });
  world.must([thief], [transferTokens({ from: thiefAccount, to: aside, mint, owner: thief.address, units: 1n })]);
  const bad = scene.paidHop(1_000_000n, { messenger: robber });
  world.must([operator], [sendLamports(operator, bad.address, 5_000_000_000n)]);
  const attempt = (mode: Mode, accounts: Partial<CctpAccounts> = {}) =>
    buildBridge(bad, {
      cctp: { ...cctp, localToken: localOf(mode), transmitterState: thief.address, ...accounts },
      payer: thief.address,
      event: event.address,
      route: 0,
    });
  const fail = (mode: Mode, why: Refusal["why"], accounts: Partial<CctpAccounts> = {}) =>
    assertRefused(scene, mode, { victim: bad, by: [thief, event], instructions: [attempt(mode, accounts)], why });
  fail("callBack", /reentrancy/i, { transmitter: scene.program });
  for (const mode of ["idle", "owner", "delegate", "closer", "less"] as const) fail(mode, "LEFT");
  fail("transfer", "PROGRAM", { transmitterState: thiefAccount });
  fail("lamports", OTHER_TERMS);
  fail("lamports", "PROGRAM", { transmitterState: bad.address });
  const other = createAuxiliary(world, operator, { mint: otherMint, owner: bad.address });
  fail("otherAccount", "PROGRAM", { transmitterState: other });
});

test("called by another program, an honest bridge burns as ever", () => {
  const [lamports, supply] = [world.lamports(victim.address), world.supply(mint)];
  world.must([thief, event], [proxied(scene, honest)]);
  assert.equal(supply - world.supply(mint), 500_000_000n);
  assert.equal(world.lamports(victim.address), lamports);
});
