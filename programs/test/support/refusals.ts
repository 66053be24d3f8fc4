import assert from "node:assert/strict";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import type { SolanaAccountMeta, SolanaInstruction } from "@tributary/inbox/solana/instructions";
import type { Scene } from "./scene.ts";
import type { Keypair, Outcome } from "./world.ts";

/** The program's errors in the order of their numbers, from 0x100 on. */
const ERRORS = [
  "ACCOUNTS",
  "DATA",
  "KIND",
  "TOKEN_PROGRAM",
  "MINT",
  "PDA",
  "INBOX",
  "FROZEN",
  "PAYOUT",
  "FEE_BPS",
  "ROUTE",
  "MINIMUM",
  "SIGNER",
  "LEFT",
  "RECOVERY",
  "EARLY",
  "NOTHING",
  "RENT",
  "EXCESS",
  "PROGRAM",
] as const;
export type ErrorName = (typeof ERRORS)[number];

/** The runtime refuses the inbox's signature, because the stated terms are not those of the address. */
export const OTHER_TERMS = /unauthorized signer or writable|privilege/i;

export type Refusal = {
  /** The inbox whose money must not move. */
  readonly victim: SolanaInbox;
  readonly by: readonly Keypair[];
  readonly instructions: readonly SolanaInstruction[];
  readonly why: ErrorName | RegExp | number;
  /** Accepts signatures of keys that nobody has. */
  readonly isForged?: boolean;
};

/** Runs an attempt and asserts that it is refused for this reason, and that nothing of the victim has moved. */
export function assertRefused(scene: Scene, name: string, attempt: Refusal): void {
  const { victim, by, instructions, why } = attempt;
  const before = watch(scene, victim);
  const [payer] = by;
  const outcome =
    attempt.isForged === true && payer !== undefined
      ? scene.world.sendForged(payer, instructions)
      : scene.world.send(by, instructions);
  assert.equal(outcome.ok, false, `${name}: it succeeded`);
  assertReason(outcome, why, name);
  assert.deepEqual(watch(scene, victim), before, name);
}

function assertReason(outcome: Outcome, why: ErrorName | RegExp | number, name: string): void {
  if (why instanceof RegExp) assert.match(outcome.reason, why, name);
  else {
    const code = typeof why === "number" ? why : errorCode(why);
    assert.equal(outcome.code, code, `${name}: expected ${why}, found ${outcome.reason}`);
  }
}

export function errorCode(name: ErrorName): number {
  return 0x100 + ERRORS.indexOf(name);
}

function watch({ world, thiefAccount }: Scene, victim: SolanaInbox): string[] {
  const account = world.account(victim.tokenAccount);
  return [
    account === undefined ? "" : `${account.lamports} ${account.data.toString("hex")}`,
    String(world.lamports(victim.address)),
    String(world.units(thiefAccount)),
  ];
}

/** The instruction with one account replaced. */
export function withAccount(made: SolanaInstruction, index: number, meta: SolanaAccountMeta): SolanaInstruction {
  assert.ok(index < made.accounts.length);
  return { ...made, accounts: made.accounts.map((old, at) => (at === index ? meta : old)) };
}

/** The instruction with bytes of its data replaced. */
export function withData(made: SolanaInstruction, offset: number, ...bytes: number[]): SolanaInstruction {
  const data = Uint8Array.from(made.data);
  data.set(bytes, offset);
  return { ...made, data };
}

/** The instruction called by the thief's program with all privileges of the transaction. */
export function proxied({ robber }: Scene, inner: SolanaInstruction): SolanaInstruction {
  const target = { address: inner.program, isSigner: false, isWritable: false };
  return { program: robber, accounts: [...inner.accounts, target], data: inner.data };
}
