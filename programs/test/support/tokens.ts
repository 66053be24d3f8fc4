import { Buffer } from "node:buffer";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { associatedTokenProgram, decodeKey, systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";
import { readonlyMeta, signerMeta, writableMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaAccountMeta, SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { createKeypair } from "./world.ts";
import type { Keypair, World } from "./world.ts";

// Instructions of the token programs and the system program, as the tests need them.

const DECIMALS = 6;
const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
export function keyBytes(key: string): Buffer {
  return Buffer.from(decodeKey("key", key));
}

/** An instruction of any program; a number is one byte of data. */
export function instruction(
  program: string,
  accounts: readonly SolanaAccountMeta[],
  ...data: readonly (number | Uint8Array)[]
): SolanaInstruction {
  const bytes = Buffer.concat(data.map((part) => (typeof part === "number" ? Buffer.of(part) : part)));
  return { program, accounts, data: new Uint8Array(bytes) };
}

export function associated(owner: string, mint: string, program = tokenProgram): string {
  return deriveTokenAccount(owner, mint, program).address;
}

export function createAssociated(
  payer: Keypair,
  owner: string,
  { mint, program = tokenProgram }: { mint: string; program?: string },
): SolanaInstruction {
  const account = associated(owner, mint, program);
  const accounts = [
    writableSignerMeta(payer.address),
    writableMeta(account),
    readonlyMeta(owner),
    readonlyMeta(mint),
    readonlyMeta(systemProgram),
    readonlyMeta(program),
  ];
  return instruction(associatedTokenProgram, accounts, 1);
}

function createAccount(
  payer: Keypair,
  fresh: Keypair,
  { lamports, bytes, owner }: { lamports: bigint; bytes: number; owner: string },
): SolanaInstruction {
  const accounts = [writableSignerMeta(payer.address), writableSignerMeta(fresh.address)];
  return instruction(systemProgram, accounts, u32(0), u64(lamports), u64(BigInt(bytes)), keyBytes(owner));
}

export function sendLamports(from: Keypair, to: string, lamports: bigint): SolanaInstruction {
  return instruction(systemProgram, [writableSignerMeta(from.address), writableMeta(to)], u32(2), u64(lamports));
}

export type Transfer = { from: string; to: string; mint: string; owner: string; units: bigint; program?: string };

export function transferTokens({ from, to, mint, owner, units, program = tokenProgram }: Transfer): SolanaInstruction {
  const accounts = [writableMeta(from), readonlyMeta(mint), writableMeta(to), signerMeta(owner)];
  return instruction(program, accounts, 12, u64(units), DECIMALS);
}

export function mintTokens(
  authority: Keypair,
  { mint, to, units, program = tokenProgram }: { mint: string; to: string; units: bigint; program?: string },
): SolanaInstruction {
  return instruction(program, [writableMeta(mint), writableMeta(to), signerMeta(authority.address)], 7, u64(units));
}

export function approve(account: string, delegate: string, owner: Keypair): SolanaInstruction {
  const accounts = [writableMeta(account), readonlyMeta(delegate), signerMeta(owner.address)];
  return instruction(tokenProgram, accounts, 4, u64(2n ** 64n - 1n));
}

export const AUTHORITY_OWNER = 2;
export const AUTHORITY_CLOSER = 3;

export function setAuthority(
  account: string,
  signer: Keypair,
  { role, to, program = tokenProgram }: { role: number; to: string; program?: string },
): SolanaInstruction {
  return instruction(program, [writableMeta(account), signerMeta(signer.address)], 6, role, 1, keyBytes(to));
}

export function setFrozen(
  account: string,
  mint: string,
  { authority, isFrozen }: { authority: Keypair; isFrozen: boolean },
): SolanaInstruction {
  const accounts = [writableMeta(account), readonlyMeta(mint), signerMeta(authority.address)];
  return instruction(tokenProgram, accounts, isFrozen ? 10 : 11);
}

export function closeTokens(account: string, to: string, authority: Keypair): SolanaInstruction {
  return instruction(tokenProgram, [writableMeta(account), writableMeta(to), signerMeta(authority.address)], 9);
}

export type MintOptions = {
  program?: string;
  /** Bytes of a mint with extensions. */
  bytes?: number;
  /** Initializes extensions. */
  before?: (mint: string) => SolanaInstruction[];
};

/** Creates a mint that `authority` may mint and freeze. */
export function createMint(world: World, authority: Keypair, options: MintOptions = {}): string {
  const { program = tokenProgram, bytes = MINT_BYTES, before = () => [] } = options;
  const mint = createKeypair();
  const authorityBytes = keyBytes(authority.address);
  world.must(
    [authority, mint],
    [
      createAccount(authority, mint, { lamports: world.rent(bytes), bytes, owner: program }),
      ...before(mint.address),
      instruction(program, [writableMeta(mint.address)], 20, DECIMALS, authorityBytes, 1, authorityBytes),
    ],
  );
  return mint.address;
}

/** Creates the associated token account of an owner with this balance. */
export function fund(
  world: World,
  authority: Keypair,
  { owner, mint, units, program = tokenProgram }: { owner: string; mint: string; units: bigint; program?: string },
): string {
  const to = associated(owner, mint, program);
  world.must(
    [authority],
    [createAssociated(authority, owner, { mint, program }), mintTokens(authority, { mint, to, units, program })],
  );
  return to;
}

/** Creates a token account at a key of its own. */
export function createAuxiliary(
  world: World,
  payer: Keypair,
  { mint, owner, program = tokenProgram }: { mint: string; owner: string; program?: string },
): string {
  const account = createKeypair();
  world.must(
    [payer, account],
    [
      createAccount(payer, account, { lamports: world.rent(ACCOUNT_BYTES), bytes: ACCOUNT_BYTES, owner: program }),
      instruction(program, [writableMeta(account.address), readonlyMeta(mint)], 18, keyBytes(owner)),
    ],
  );
  return account.address;
}

/** The data of a plain token account. */
export function tokenAccountData({ mint, owner, units }: { mint: string; owner: string; units: bigint }): Buffer {
  const data = Buffer.alloc(ACCOUNT_BYTES);
  keyBytes(mint).copy(data, 0);
  keyBytes(owner).copy(data, 32);
  data.writeBigUInt64LE(units, 64);
  data.writeUInt8(1, 108);
  return data;
}
