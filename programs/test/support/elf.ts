import { readFileSync } from "node:fs";
import process from "node:process";
import { programPath } from "../../scripts/build.ts";
import type { ProgramName } from "../../scripts/compile.ts";

/** A changed program that the tests must fail on. */
const PROGRAM_VARIABLE = "TRIBUTARY_INBOX_PROGRAM";

export function readElf(name: ProgramName): Uint8Array {
  const path = name === "inbox" ? (process.env[PROGRAM_VARIABLE] ?? programPath(name)) : programPath(name);
  return new Uint8Array(readFileSync(path));
}
