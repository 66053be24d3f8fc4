import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseArguments, parseInteger, exitWithUsage } from "./parseArguments.ts";
import { mutants } from "./mutants.ts";

const USAGE = `Usage: npm run sim:mutants -- [--seeds=500] [names …]

  --seeds  the number of seeds to try for each planted bug
  names    only these planted bugs, of:
${mutants.map(({ name }) => `           ${name}`).join("\n")}`;

// Runs every planted bug, and prints the seed that finds it.

const { values, positionals } = parseArguments({ seeds: { type: "string", default: "500" } }, USAGE);
parseInteger(values.seeds, "seeds", USAGE);
const unknown = positionals.find((typed) => mutants.every(({ name }) => name !== typed));
if (unknown !== undefined) exitWithUsage(`There is no planted bug ${unknown}.`, USAGE);
const mutantScript = fileURLToPath(new URL("runMutant.ts", import.meta.url));
const run = promisify(execFile);
const queue = mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
let survivors = 0;

type Detection = { seed: number; after: number; rule: string };

async function runMutant(name: string): Promise<Detection | undefined> {
  const { stdout } = await run(process.execPath, [mutantScript, name, "--seeds", values.seeds]);
  return stdout.trim() === "" ? undefined : (JSON.parse(stdout) as Detection);
}

async function runWorker(): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const found = await runMutant(mutant.name);
    if (found === undefined) survivors += 1;
    const verdict = found ? `${String(found.after).padStart(4)}  ${found.rule}` : "  — missed";
    process.stdout.write(`${mutant.name.padEnd(28)} ${verdict}\n`);
  }
}

process.stdout.write(`${"planted bug".padEnd(28)} seeds  found as\n`);
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, runWorker));
process.stdout.write(survivors === 0 ? "all bugs found\n" : `${survivors} bugs missed in ${values.seeds} seeds\n`);
if (survivors > 0) process.exitCode = 1;
