import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { reportPlantedBugs } from "../../scripts/tests/reportPlantedBugs.ts";
import { findByTest } from "../plantedBugs/findByTest.ts";
import { plantedBugs } from "../plantedBugs/plantedBugs.ts";
import { mutants } from "./mutants.ts";
import { parseArguments, parseInteger, exitWithUsage } from "./parseArguments.ts";
import { readMutantSeeds } from "./readCorpus.ts";

// Runs every planted bug, and prints the seed that finds it. What no simulated world has, such as a node of Solana, is
// planted against a test of the road.

const simulated = mutants.map(({ name }) => name);
const ofRoad = plantedBugs.filter(({ name }) => !simulated.includes(name));

const USAGE = `Usage: npm run sim:mutants -- [--seeds=40] [--only=seeds|tests] [names …]

  --seeds  the number of seeds to try for each planted bug, its named seed first
  --only   the bugs that seeds find, or those that tests find; what both find is run with seeds by default
  names    only these planted bugs, of:
${[...simulated, ...ofRoad.map(({ name }) => name)].map((name) => `           ${name}`).join("\n")}`;

const { values, positionals } = parseArguments(
  { seeds: { type: "string", default: "40" }, only: { type: "string", default: "" } },
  USAGE,
);
parseInteger(values.seeds, "seeds", USAGE);
if (!["", "seeds", "tests"].includes(values.only))
  exitWithUsage(`--only must be seeds or tests, not ${values.only}.`, USAGE);
const known = new Set([...simulated, ...ofRoad.map(({ name }) => name)]);
const unknown = positionals.find((typed) => !known.has(typed));
if (unknown !== undefined) exitWithUsage(`There is no planted bug ${unknown}.`, USAGE);
const seedScript = fileURLToPath(new URL("runMutant.ts", import.meta.url));
const run = promisify(execFile);
const isChosen = (name: string) => positionals.length === 0 || positionals.includes(name);
const chosen = [
  ...(values.only === "tests" ? [] : simulated.map((name) => ({ name, find: () => findBySeed(name) }))),
  ...(values.only === "seeds"
    ? []
    : (values.only === "tests" ? plantedBugs : ofRoad).map(({ name, test }) => ({
        name,
        find: () => findByTest({ name, test }),
      }))),
].filter(({ name }) => isChosen(name));
const named = readMutantSeeds();

type Detection = { seed: number; after: number; rule: string };

/** How a bug was found; undefined when it was missed. */
async function findBySeed(name: string): Promise<string | undefined> {
  const { stdout } = await run(process.execPath, [seedScript, name, "--seeds", values.seeds]);
  if (stdout.trim() === "") return undefined;
  const { seed, after, rule } = JSON.parse(stdout) as Detection;
  const place = named.get(name) === seed ? "named" : `try ${after}`;
  return `seed ${String(seed).padEnd(5)} ${place.padEnd(7)} ${rule}`;
}

await reportPlantedBugs(chosen, { find: (bug) => bug.find(), workers: Math.min(2, availableParallelism()) });
