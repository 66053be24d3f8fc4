import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { readonlyMeta, signerMeta, writableMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaAccountMeta, SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, systemProgram, tokenProgram } from "@tributary/inbox/solana/keys";

// Instructions of the system program and the token programs, as wallets build them.

const CREATE_IDEMPOTENT = 1;
const MINT_TO = 7;
const FREEZE = 10;
const THAW = 11;
const TRANSFER_CHECKED = 12;

export function sendLamports(from: string, to: string, lamports: bigint): SolanaInstruction {
  return build(systemProgram, [writableSignerMeta(from), writableMeta(to)], [...u32(2), ...u64(lamports)]);
}

export type TokenHolder = { readonly owner: string; readonly mint: string; readonly program?: string };

/** The token account that wallets look for. */
export function findTokenAccount({ owner, mint, program = tokenProgram }: TokenHolder): string {
  return deriveTokenAccount(owner, mint, program).address;
}

/** Changes nothing when the account exists. */
export function createTokenAccount(payer: string, holder: TokenHolder): SolanaInstruction {
  const { owner, mint, program = tokenProgram } = holder;
  const accounts = [
    writableSignerMeta(payer),
    writableMeta(findTokenAccount(holder)),
    ...[owner, mint, systemProgram, program].map(readonlyMeta),
  ];
  return build(associatedTokenProgram, accounts, [CREATE_IDEMPOTENT]);
}

export type TokenTransfer = {
  /** Token accounts. */
  readonly from: string;
  readonly to: string;
  /** Signs. */
  readonly owner: string;
  readonly mint: string;
  readonly units: bigint;
  /** Default 6. */
  readonly decimals?: number;
  readonly program?: string;
};

export function transferTokens(transfer: TokenTransfer): SolanaInstruction {
  const { from, to, owner, mint, units, decimals = 6, program = tokenProgram } = transfer;
  const accounts = [writableMeta(from), readonlyMeta(mint), writableMeta(to), signerMeta(owner)];
  return build(program, accounts, [TRANSFER_CHECKED, ...u64(units), decimals]);
}

export type TokenMinting = {
  readonly mint: string;
  /** A token account. */
  readonly to: string;
  readonly units: bigint;
  readonly authority: string;
  readonly program: string;
};

export function mintTokens({ mint, to, units, authority, program }: TokenMinting): SolanaInstruction {
  const accounts = [writableMeta(mint), writableMeta(to), signerMeta(authority)];
  return build(program, accounts, [MINT_TO, ...u64(units)]);
}

export type Freezing = {
  readonly account: string;
  readonly mint: string;
  readonly authority: string;
  readonly program: string;
  readonly isFrozen: boolean;
};

export function setFrozen({ account, mint, authority, program, isFrozen }: Freezing): SolanaInstruction {
  const accounts = [writableMeta(account), readonlyMeta(mint), signerMeta(authority)];
  return build(program, accounts, [isFrozen ? FREEZE : THAW]);
}

function build(program: string, accounts: readonly SolanaAccountMeta[], data: readonly number[]): SolanaInstruction {
  return { program, accounts, data: Uint8Array.from(data) };
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
