import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

// Which state of the contracts has passed the runs of forge. A run whose inputs are unchanged would only repeat its
// result.

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Runs everything again, whatever is recorded. */
const ALWAYS_VARIABLE = "FORGE_ALWAYS";

const INPUTS = [
  "contracts/{src,test,proofs}/**/*.{sol,json}",
  "contracts/scripts/{artifacts,doubles,forge,mineSalt,passed}.ts",
  "contracts/scripts/solc.js",
  "contracts/foundry.toml",
  "packages/inbox/src/*.generated.ts",
  "packages/inbox/src/create2.ts",
  "src/dev/chains/cctpDoubles.generated.json",
];
/** Of these the lockfile's entries count: compiler, test runner, and the libraries that the contracts import. */
const PACKAGES = /(^|\/)node_modules\/(@foundry-rs\/forge[^/]*|solc|solady|@offchainlabs\/stablecoin-evm)$/;

export const CONTRACT_RUNS = ["build", "doubles", "proofs", "tests"] as const;
export type ContractRun = (typeof CONTRACT_RUNS)[number];
export type PassedOptions = { root?: string; always?: boolean };

/** Changes with every file and package that decides how a run of forge ends. */
export function hashContracts(root = ROOT): string {
  const hash = createHash("sha256");
  for (const file of INPUTS.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted()))
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string; integrity?: string }>;
  };
  for (const [name, { version, integrity }] of Object.entries(packages))
    if (PACKAGES.test(name)) hash.update(`${name} ${version} ${integrity}\0`);
  return hash.digest("hex");
}

/** Runs and records the success, unless these very inputs have passed before. */
export async function runUnlessPassed(
  name: ContractRun,
  run: () => Promise<void>,
  { root = ROOT, always = process.env[ALWAYS_VARIABLE] === "1" }: PassedOptions = {},
): Promise<"ran" | "passed before"> {
  if (!always && hasPassed(name, root)) return "passed before";
  const hash = hashContracts(root);
  await run();
  const path = recordOf(name, root);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${hash}\n`);
  return "ran";
}

/** Whether the run has passed with these inputs. */
export function hasPassed(name: ContractRun, root = ROOT): boolean {
  return readRecorded(recordOf(name, root)) === hashContracts(root);
}

function recordOf(name: ContractRun, root: string): string {
  return join(root, "contracts/passed", `${name}.txt`);
}

function readRecorded(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
