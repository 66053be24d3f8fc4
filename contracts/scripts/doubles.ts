import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import { artifactPath, runForge } from "./forge.ts";

// Compiles the doubles of Circle's bridge for the local world, which has the same refusals as the contracts' tests.

/** Below the contracts folder. */
const SOURCES = "test/cctp";
const CONTRACTS = { transmitter: "MessageTransmitter", minter: "TokenMinter", messenger: "TokenMessenger" } as const;

export const doublesPath = fileURLToPath(new URL("../../src/dev/chains/cctpDoubles.generated.json", import.meta.url));

/**
 * The content of the generated file: the creation code of each double, without constructor arguments. Throws when forge
 * fails.
 */
export async function buildDoubles(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tributary-doubles-"));
  try {
    const out = join(directory, "out");
    const paths = Object.values(CONTRACTS).map((name) => `${SOURCES}/${name}.sol`);
    const run = await runForge(["build", ...paths, "--out", out, "--cache-path", join(directory, "cache")]);
    if (run.exitCode !== 0) throw new Error(`forge build failed:\n${run.output}`);
    const codes = await Promise.all(
      Object.entries(CONTRACTS).map(async ([key, name]) => [key, await readCode(out, name)] as const),
    );
    return `${JSON.stringify(Object.fromEntries(codes), undefined, 2)}\n`;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readCode(out: string, contract: string): Promise<Hex> {
  const artifact = JSON.parse(await readFile(artifactPath(out, contract), "utf8")) as { bytecode: { object: Hex } };
  return artifact.bytecode.object;
}

if (import.meta.main) await writeFile(doublesPath, await buildDoubles());
