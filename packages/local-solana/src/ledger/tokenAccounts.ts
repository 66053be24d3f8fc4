import { decodeKey, encodeKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import type { Account } from "litesvm/dist/internal.js";

// The layouts of the two token programs.

export type TokenAccount = {
  readonly mint: string;
  readonly owner: string;
  readonly units: bigint;
  readonly state: "initialized" | "frozen";
  readonly programId: string;
};
export type TokenMint = { readonly supply: bigint; readonly decimals: number; readonly programId: string };
export type TokenAmount = {
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number;
  readonly uiAmountString: string;
};

export const TOKEN_PROGRAMS: readonly string[] = [tokenProgram, token2022Program];

const ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
/** With extensions, this byte behind the base tells accounts from mints. */
const KIND = 165;
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;
const OWNER = 32;
const UNITS = 64;
const STATE = 108;
const STATE_FROZEN = 2;
const SUPPLY = 36;
const DECIMALS = 44;
const IS_INITIALIZED = 45;

/** Undefined when it is no token account. */
export function readTokenAccount(account: Account | null): TokenAccount | undefined {
  if (account === null) return undefined;
  const programId = encodeKey(account.owner());
  if (!TOKEN_PROGRAMS.includes(programId)) return undefined;
  const data = Buffer.from(account.data());
  const hasShape = data.length === ACCOUNT_BYTES || (data.length > KIND && data.readUInt8(KIND) === KIND_ACCOUNT);
  if (!hasShape || data.readUInt8(STATE) === 0) return undefined;
  return {
    mint: encodeKey(new Uint8Array(data.subarray(0, OWNER))),
    owner: encodeKey(new Uint8Array(data.subarray(OWNER, UNITS))),
    units: data.readBigUInt64LE(UNITS),
    state: data.readUInt8(STATE) === STATE_FROZEN ? "frozen" : "initialized",
    programId,
  };
}

/** Whether these bytes can be a token account of the owner, before more of them is read. */
export function isTokenAccountOf(account: Account, owner: string): boolean {
  return Buffer.from(account.data().subarray(OWNER, UNITS)).equals(decodeKey("owner", owner));
}

/** Undefined when it is no mint. */
export function readMint(account: Account | null): TokenMint | undefined {
  if (account === null) return undefined;
  const programId = encodeKey(account.owner());
  if (!TOKEN_PROGRAMS.includes(programId)) return undefined;
  const data = Buffer.from(account.data());
  const hasShape = data.length === MINT_BYTES || (data.length > KIND && data.readUInt8(KIND) === KIND_MINT);
  if (!hasShape || data.readUInt8(IS_INITIALIZED) === 0) return undefined;
  return { supply: data.readBigUInt64LE(SUPPLY), decimals: data.readUInt8(DECIMALS), programId };
}

export function formatTokenAmount(units: bigint, decimals: number): TokenAmount {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const uiAmountString = fraction === "" ? whole : `${whole}.${fraction}`;
  return { amount: units.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}
