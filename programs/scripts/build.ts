import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, PROGRAM_NAMES, programsDirectory } from "./compile.ts";
import type { ProgramName } from "./compile.ts";

// Compiles the programs and writes the committed files: node programs/scripts/build.ts. An edit of the inbox program
// changes its hash, and a program that stands on chain can never be changed: inboxes of another program have other
// addresses.

/**
 * The address in place of the published program's, until that is deployed. Its key signs one transaction on each
 * cluster, which creates the program.
 */
const PROGRAM_ID = "A27yWq6ooL214xBC1oaNCdJ4dKyDborZRVkc59PXcMwR";

/** CAIP-2 references of the public clusters: the first 32 characters of their genesis hashes. */
const CLUSTERS = {
  mainnet: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  testnet: "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3",
  devnet: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
};

const inboxSources = fileURLToPath(new URL("../../packages/inbox/src/solana/", import.meta.url));

/** The path of a committed program. */
export function programPath(name: ProgramName): string {
  return join(programsDirectory, "build", `${name}.so`);
}

export async function readProgram(name: ProgramName): Promise<Buffer> {
  return readFile(programPath(name));
}

/** The files that follow from the inbox program, by path. */
export function renderGenerated(inbox: Buffer): ReadonlyMap<string, string> {
  return new Map([
    [join(programsDirectory, "build", "inbox.sha256"), `${sha256(inbox)}  inbox.so\n`],
    [join(inboxSources, "program.generated.ts"), renderProgramFile(inbox)],
    [join(inboxSources, "programCode.generated.ts"), renderCodeFile(inbox)],
  ]);
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const fileHeader = "// Written by programs/scripts/build.ts from the compiled program; change that instead.\n";

function renderProgramFile(inbox: Buffer): string {
  const ids = Object.entries(CLUSTERS).map(([name, cluster]) => `  // ${name}\n  "${cluster}": "${PROGRAM_ID}",`);
  return [
    fileHeader,
    "/** SHA-256 of the program's ELF file, as the loader stores it. */",
    `export const solanaProgramHash = "${sha256(inbox)}";\n`,
    "/** Bytes of the program's ELF file. */",
    `export const solanaProgramBytes = ${inbox.length};\n`,
    "const programs: Readonly<Record<string, string>> = {",
    ...ids,
    "};\n",
    "/** Stands for a program that is on no public cluster yet. The vectors use its address; a service with it does not start. */",
    `export const placeholderProgram = "${PROGRAM_ID}";\n`,
    "/** The published inbox program of a cluster, by its CAIP-2 reference; undefined for a private cluster. */",
    "export function findSolanaProgram(cluster: string): string | undefined {",
    "  return Object.hasOwn(programs, cluster) ? programs[cluster] : undefined;",
    "}\n",
  ].join("\n");
}

function renderCodeFile(inbox: Buffer): string {
  return [
    fileHeader,
    "/** The program's ELF file in base64, for the transactions that deploy it. */",
    `export const solanaProgramCode =\n  "${inbox.toString("base64")}";\n`,
  ].join("\n");
}

if (import.meta.main) {
  await mkdir(dirname(programPath("inbox")), { recursive: true });
  const programs = new Map<ProgramName, Buffer>();
  for (const name of PROGRAM_NAMES) programs.set(name, await compile(name));
  for (const [name, bytes] of programs) {
    await writeFile(programPath(name), bytes);
    console.log(`${name}.so  ${bytes.length} bytes  ${sha256(bytes)}`);
  }
  for (const [path, text] of renderGenerated(programs.get("inbox") ?? Buffer.alloc(0))) await writeFile(path, text);
}
