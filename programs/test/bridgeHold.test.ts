import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import {
  buildBridge,
  signerMeta,
  writableMeta,
  writableSignerMeta,
  readonlyMeta,
} from "@tributary/inbox/solana/instructions";
import type { FurtherAccounts } from "@tributary/inbox/solana/instructions";
import { systemProgram, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { BadMessenger } from "./support/badMessenger.ts";
import type { Mode } from "./support/badMessenger.ts";
import { DOMAIN_BASE, LOCAL_LIMIT } from "./support/cctpWorld.ts";
import { assertRefused } from "./support/refusals.ts";
import { Scene } from "./support/scene.ts";
import {
  AUTHORITY_OWNER,
  createAuxiliary,
  createMint,
  fund,
  instruction,
  keyBytes,
  setAuthority,
  transferTokens,
} from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";

// What a messenger that turned bad could keep of an inbox: its own account as a token account, and extensions of the inbox's.

const scene = new Scene();
const { world, operator, payer, thief, mint, otherMint, robber } = scene;
const messenger = new BadMessenger(scene);
const program = token2022Program;
const newMint = createMint(world, operator, { program });
const from = fund(world, operator, { owner: payer.address, mint: newMint, units: 10n ** 12n, program });
const MINT_OFFSET = 40;

function prepare(inbox: SolanaInbox, mode: Mode, further: FurtherAccounts = { accounts: [] }) {
  const event = createKeypair();
  const cctp = {
    ...deriveCctpAccounts({ mint: inbox.terms.mint, domain: DOMAIN_BASE, sender: inbox.address }),
    localToken: messenger.localOf(mode, 0, inbox.terms.mint),
    transmitterState: thief.address,
  };
  const made = buildBridge(inbox, { cctp, payer: thief.address, event: event.address, route: 0, further });
  return { signers: [thief, event], made };
}

function refuse(victim: SolanaInbox, mode: Mode, further?: FurtherAccounts): void {
  const { signers, made } = prepare(victim, mode, further);
  assertRefused(scene, mode, { victim, by: signers, instructions: [made], why: "LEFT" });
}

function newInbox(): SolanaInbox {
  const inbox = scene.hop({ messenger: robber, mint: newMint, tokenProgram: program });
  scene.deposit(inbox, 2_000_000n, from);
  return inbox;
}

test("a messenger that turned bad receives nothing in its own account", () => {
  const victim = scene.paidHop(2_000_000n, { messenger: robber });
  refuse(victim, "localTake");
  refuse(victim, "localOpen");
});

test("a messenger that turned bad does not close the token account", () => {
  for (const victim of [scene.paidHop(2_000_000n, { messenger: robber }), newInbox()])
    refuse(victim, "closeOther", { accounts: [{ address: victim.tokenAccount, isWritable: true }] });
});

test("a messenger that turned bad extends no token account of Token-2022", () => {
  const victim = newInbox();
  refuse(victim, "memo");
  refuse(victim, "memoRoom");
  scene.deposit(victim, 1_000_000n, from);
  const { signers, made } = prepare(victim, "honest");
  world.must(signers, [made]);
  assert.equal(world.units(victim.tokenAccount), 0n);
});

test("a messenger that turned bad requires no memos of an account with room for it", () => {
  const inbox = scene.hop({ messenger: robber, mint: newMint, tokenProgram: program });
  const aside = createAuxiliary(world, thief, { mint: newMint, owner: thief.address, program });
  const room = [
    writableMeta(aside),
    writableSignerMeta(thief.address),
    readonlyMeta(systemProgram),
    signerMeta(thief.address),
  ];
  const memo = [writableMeta(aside), signerMeta(thief.address)];
  world.must(
    [thief],
    [
      instruction(program, room, 29, Buffer.from([8, 0])),
      instruction(program, memo, 30, 0),
      instruction(program, memo, 30, 1),
      setAuthority(aside, thief, { role: AUTHORITY_OWNER, to: inbox.address, program }),
    ],
  );
  const victim = { ...inbox, tokenAccount: aside };
  const units = 2_000_000n;
  world.must([payer], [transferTokens({ from, to: aside, mint: newMint, owner: payer.address, units, program })]);
  refuse(victim, "memo");
  const { signers, made } = prepare(victim, "honest");
  world.must(signers, [made]);
  assert.equal(world.units(aside), 0n);
});

test("the limit is that of the mint, wherever the messenger reads its own", () => {
  const victim = scene.paidHop(5_000_000n);
  const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: victim.address });
  const { localToken } = deriveCctpAccounts({ mint: otherMint, domain: DOMAIN_BASE, sender: victim.address });
  const data = Buffer.from(world.account(cctp.localToken)?.data ?? []);
  data.set(keyBytes(otherMint), MINT_OFFSET);
  data.writeBigUInt64LE(1_500_000n, LOCAL_LIMIT);
  world.put(localToken, { owner: cctpMessenger, data });
  // Beginning with the local token, the messenger's accounts stand once more, and the first of them is another token's.
  const event = createKeypair();
  const accounts = [cctp.localToken, mint, event.address].map((address) => ({ address, isWritable: true }));
  const programs = [cctp.transmitter, cctpMessenger, tokenProgram, systemProgram, cctp.eventAuthority];
  const further = {
    before: 9,
    accounts: [...accounts, ...programs.map((address) => ({ address, isWritable: false }))],
  };
  const options = { payer: thief.address, event: event.address, route: 0, further } as const;
  const decoy = buildBridge(victim, { ...options, cctp: { ...cctp, localToken } });
  assertRefused(scene, "another limit", { victim, by: [thief, event], instructions: [decoy], why: "PROGRAM" });
  world.must([thief, event], [buildBridge(victim, { ...options, cctp })]);
  assert.equal(world.units(victim.tokenAccount), 0n);
});
