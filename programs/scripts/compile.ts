import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { murmur3 } from "./murmur3.ts";
import { pack } from "./pack.ts";

// C → object file (clang) → ELF of SBPF v3. The same sources and the same compiler give the same bytes.

export const programsDirectory = fileURLToPath(new URL("..", import.meta.url));

/** The compiler that made the committed programs. Other versions produce other bytes. */
const CLANG = process.env["CLANG"] ?? "clang-19";
const CLANG_MAJOR = 19;

/** The programs and their sources, relative to `programs/`. */
export const PROGRAM_SOURCES = {
  inbox: "src/inbox.c",
  cctp: "test/programs/cctp.c",
  thief: "test/programs/thief.c",
} as const;
export type ProgramName = keyof typeof PROGRAM_SOURCES;
export const PROGRAM_NAMES = Object.keys(PROGRAM_SOURCES) as ProgramName[];

const KEYS = {
  KEY_SYSTEM: "11111111111111111111111111111111",
  KEY_TOKEN: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  KEY_TOKEN_2022: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  KEY_ASSOCIATED_TOKEN: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  // For the doubles of Circle's programs only.
  KEY_TRANSMITTER: "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC",
};

const SYSTEM_CALLS = {
  SYSCALL_INVOKE: "sol_invoke_signed_c",
  SYSCALL_SHA256: "sol_sha256",
  SYSCALL_CLOCK: "sol_get_clock_sysvar",
  SYSCALL_RENT: "sol_get_rent_sysvar",
  SYSCALL_KECCAK256: "sol_keccak256",
  SYSCALL_SECP256K1_RECOVER: "sol_secp256k1_recover",
  SYSCALL_FIND_ADDRESS: "sol_try_find_program_address",
};

// SBPF v3 differs from eBPF in 32-bit arithmetic, which -mcpu=v2 does not use. A frame of the runtime has 4,096 bytes.
const FLAGS = [
  "-target bpfel -mcpu=v2 -O2 -std=c17 -Wall -Wextra -Werror",
  "-fno-builtin -ffreestanding -fno-jump-tables -fno-strict-aliasing -fno-ident",
  "-mllvm -bpf-stack-size=4096",
].flatMap((line) => line.split(" "));

/** Whether the compiler of the committed programs is installed. */
export async function isCompilerInstalled(): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(CLANG, ["--version"]);
    return Number(/version (?<major>\d+)/.exec(stdout)?.groups?.["major"]) === CLANG_MAJOR;
  } catch {
    return false;
  }
}

export type CompileOptions = { readonly directory?: string; readonly flags?: readonly string[] };

/** Compiles one program; `directory` holds a changed copy of `programs/`. Rejects with the compiler's output. */
export async function compile(name: ProgramName, options: CompileOptions = {}): Promise<Buffer> {
  const { directory = programsDirectory, flags = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), "tributary-program-"));
  try {
    const object = join(folder, "program.o");
    // The paths are relative to the folder, so that no path of this machine decides a byte.
    const parameters = [...FLAGS, ...defines(), ...flags, "-c", PROGRAM_SOURCES[name], "-o", object];
    await promisify(execFile)(CLANG, parameters, { cwd: directory });
    return pack(await readFile(object));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function defines(): string[] {
  return [
    ...Object.entries(SYSTEM_CALLS).map(([name, call]) => `-D${name}=0x${murmur3(call).toString(16)}u`),
    ...Object.entries(KEYS).map(([name, key]) => `-D${name}=${wordsOf(key)}`),
  ];
}

function wordsOf(key: string): string {
  const bytes = Buffer.from(decodeKey("key", key));
  return [0, 8, 16, 24].map((at) => `0x${bytes.readBigUInt64LE(at).toString(16)}ul`).join(",");
}
