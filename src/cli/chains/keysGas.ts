import { writeFileSync } from "node:fs";
import { CommandError } from "../../operator/errors.ts";
import { toJson } from "../../operator/process/terminal.ts";
import type { Command, CommandInput } from "../command.ts";

const OWNER_ONLY_MODE = 0o600;

export const keysGas: Command = {
  name: "keys gas",
  summary: "make the key that pays gas, in a file",
  help: "Make the key that pays gas on an EVM chain, in a file that only you can read; print its address",
  positionals: [{ name: "file", summary: "the file to write, for gasKeyFile of a chain" }],
  options: {},
  examples: ["tributary keys gas base.key"],
  run: makeKey,
};

async function makeKey({ positionals: [file = ""], terminal, asJson }: CommandInput): Promise<number> {
  const { generatePrivateKey, privateKeyToAccount } = await import("viem/accounts");
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  try {
    // "wx" refuses a file that exists: it may hold the only copy of a key.
    writeFileSync(file, `${key}\n`, { flag: "wx", mode: OWNER_ONLY_MODE });
  } catch (error) {
    throw describeWriteError(error, file);
  }
  if (asJson) terminal.out(toJson({ file, address }));
  else {
    terminal.out(address);
    terminal.note(
      `Wrote ${file}. Name it in gasKeyFile, and send ${address} some coins of the chain. It cannot move deposits.`,
    );
  }
  return 0;
}

function describeWriteError(error: unknown, file: string): unknown {
  if (!(error instanceof Error && "code" in error)) return error;
  if (error.code === "EEXIST") return new CommandError(`${file} exists and stays as it is: name another file.`);
  if (error.code === "ENOENT" || error.code === "ENOTDIR")
    return new CommandError(`${file} cannot be written: its folder does not exist.`);
  return error;
}
