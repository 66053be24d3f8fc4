import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readArguments, readWhole, refuse } from "./arguments.ts";
import { mutants } from "./mutants.ts";

const USAGE = `Usage: npm run sim:mutants -- [--seeds=500] [names …]

  --seeds  how many seeds each planted bug is looked for in
  names    these planted bugs alone, out of:
${mutants.map(({ name }) => `           ${name}`).join("\n")}`;

// Every planted bug, and the seed that found it.

const { values, positionals } = readArguments({ seeds: { type: "string", default: "500" } }, USAGE);
readWhole(values.seeds, "seeds", USAGE);
const unknown = positionals.find((typed) => mutants.every(({ name }) => name !== typed));
if (unknown !== undefined) refuse(`There is no planted bug ${unknown}.`, USAGE);
const mutate = fileURLToPath(new URL("mutate.ts", import.meta.url));
const run = promisify(execFile);
const waiting = mutants.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
let survivors = 0;

type Found = { seed: number; after: number; rule: string };

async function tryOne(name: string): Promise<Found | undefined> {
  const { stdout } = await run(process.execPath, [mutate, name, "--seeds", values.seeds]);
  return stdout.trim() === "" ? undefined : (JSON.parse(stdout) as Found);
}

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const found = await tryOne(mutant.name);
    if (found === undefined) survivors += 1;
    const verdict = found ? `${String(found.after).padStart(4)}  ${found.rule}` : "  — not found";
    process.stdout.write(`${mutant.name.padEnd(28)} ${verdict}\n`);
  }
}

process.stdout.write(`${"planted bug".padEnd(28)} seeds  found as\n`);
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
process.stdout.write(survivors === 0 ? "all were found\n" : `${survivors} were not found in ${values.seeds} seeds\n`);
if (survivors > 0) process.exitCode = 1;
