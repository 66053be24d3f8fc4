import { readonlyMeta, signerMeta, writableMeta, writableSignerMeta } from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { decodeKey, systemProgram } from "@tributary/inbox/solana/keys";
import { programDataAddress, UPGRADEABLE_LOADER } from "../../chain/solana/inboxProgram.ts";

// The instructions of the upgradeable loader that deploy a program, and those that make it final.

const RENT_SYSVAR = "SysvarRent111111111111111111111111111111111";
const CLOCK_SYSVAR = "SysvarC1ock11111111111111111111111111111111";
const BUFFER_HEADER_BYTES = 37;
const PROGRAM_BYTES = 36;
/** Code bytes of one transaction. */
export const CHUNK_BYTES = 900;

const INITIALIZE_BUFFER = 0;
const WRITE = 1;
const DEPLOY = 2;
const SET_AUTHORITY = 4;

export const bufferBytes = (codeBytes: number) => BUFFER_HEADER_BYTES + codeBytes;
export const programBytes = PROGRAM_BYTES;

export type Deployment = {
  /** Pays, and is the upgrade authority until the program is final. */
  readonly payer: string;
  readonly program: string;
  readonly buffer: string;
};

/** Creates the account into which the code is written. */
export function buildCreateBuffer({ payer, buffer }: Deployment, size: AccountSize): SolanaInstruction[] {
  const accounts = [writableMeta(buffer), readonlyMeta(payer)];
  return [createAccount(payer, buffer, size), { program: UPGRADEABLE_LOADER, accounts, data: u32(INITIALIZE_BUFFER) }];
}

export function buildWrite({ payer, buffer }: Deployment, offset: number, chunk: Uint8Array): SolanaInstruction {
  const accounts = [writableMeta(buffer), signerMeta(payer)];
  const data = Buffer.concat([u32(WRITE), u32(offset), u64(BigInt(chunk.length)), chunk]);
  return { program: UPGRADEABLE_LOADER, accounts, data: new Uint8Array(data) };
}

/** Creates the program from the buffer, with no room to grow. */
export function buildDeploy(
  { payer, program, buffer }: Deployment,
  codeBytes: number,
  lamports: bigint,
): SolanaInstruction[] {
  const accounts = [
    writableSignerMeta(payer),
    writableMeta(programDataAddress(program)),
    writableMeta(program),
    writableMeta(buffer),
    readonlyMeta(RENT_SYSVAR),
    readonlyMeta(CLOCK_SYSVAR),
    readonlyMeta(systemProgram),
    signerMeta(payer),
  ];
  const data = new Uint8Array(Buffer.concat([u32(DEPLOY), u64(BigInt(codeBytes))]));
  return [
    createAccount(payer, program, { bytes: PROGRAM_BYTES, lamports }),
    { program: UPGRADEABLE_LOADER, accounts, data },
  ];
}

/** Gives the upgrade authority up, permanently. */
export function buildFinalize({ payer, program }: Pick<Deployment, "payer" | "program">): SolanaInstruction {
  const accounts = [writableMeta(programDataAddress(program)), signerMeta(payer)];
  return { program: UPGRADEABLE_LOADER, accounts, data: u32(SET_AUTHORITY) };
}

type AccountSize = { readonly bytes: number; readonly lamports: bigint };

function createAccount(payer: string, account: string, { bytes, lamports }: AccountSize): SolanaInstruction {
  const owner = decodeKey("owner", UPGRADEABLE_LOADER);
  const data = Buffer.concat([u32(0), u64(lamports), u64(BigInt(bytes)), owner]);
  const accounts = [writableSignerMeta(payer), writableSignerMeta(account)];
  return { program: systemProgram, accounts, data: new Uint8Array(data) };
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return new Uint8Array(bytes);
}

function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return new Uint8Array(bytes);
}
