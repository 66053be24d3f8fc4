/** Installs the other EVM where it is missing, and runs `npm run forks`. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../scripts/forks", import.meta.url));

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(`${folder}/node_modules`))
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder]);
run(process.execPath, ["--no-warnings", `${folder}/main.ts`]);
