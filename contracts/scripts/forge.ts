import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const contractsDirectory = fileURLToPath(new URL("..", import.meta.url));

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** The path of the platform's forge binary. Without a wrapper script in between, signals reach the process. */
function forgeBinary(): string {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const name = process.platform === "win32" ? "forge.exe" : "forge";
  const fromHere = createRequire(import.meta.url);
  const fromWrapper = createRequire(fromHere.resolve("@foundry-rs/forge/package.json"));
  return fromWrapper.resolve(`@foundry-rs/forge-${process.platform}-${architecture}/bin/${name}`);
}

export type ForgeRun = { readonly exitCode: number; readonly output: string };

/**
 * Runs forge in the contracts folder or a copy of it, with its compiler on this Node. `output` contains both streams in
 * the order of arrival.
 */
export async function runForge(parameters: readonly string[], directory = contractsDirectory): Promise<ForgeRun> {
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  const forge = spawn(forgeBinary(), parameters, {
    cwd: directory,
    env: { ...process.env, PATH: path, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString("utf8");
  };
  forge.stdout.on("data", keep);
  forge.stderr.on("data", keep);
  await once(forge, "close");
  return { exitCode: forge.exitCode ?? 1, output };
}

/** The path of a contract's artifact below `outDirectory`. */
export function artifactPath(outDirectory: string, contract: string): string {
  return join(outDirectory, `${contract}.sol`, `${contract}.json`);
}
