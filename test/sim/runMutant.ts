import { parseArgs } from "node:util";
import { installPatches } from "./installPatches.ts";
import type { Mutant } from "./mutant.ts";
import { mutants } from "./mutants.ts";
import { readMutantSeeds } from "./readCorpus.ts";

// Runs seeds with one planted bug until one of them finds it, its named seed first. Each bug needs its own process,
// because modules load once: node test/sim/runMutant.ts <name> [--seeds 40] [--from 1]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: "string", default: "40" }, from: { type: "string", default: "1" } },
});
const mutant = mutants.find(({ name }) => name === positionals[0]);
if (!mutant)
  throw new Error(`There is no planted bug ${positionals[0]}: ${mutants.map(({ name }) => name).join(", ")}`);
installPatches(mutant);

const { SimDatabase } = await import("./simDatabase.ts");
const { drawSeedPlan, runSeed } = await import("./simulation.ts");
const database = await SimDatabase.open();
for (const statement of mutant.statements ?? []) database.query(statement);
let tried = 0;
for (const seed of seedsToTry(mutant)) {
  tried += 1;
  const { violation } = await runSeed(database, { seed });
  if (violation !== undefined) process.stdout.write(`${JSON.stringify({ seed, after: tried, ...violation })}\n`);
  if (violation !== undefined || tried >= Number(values.seeds)) break;
}
await database.close();

function* seedsToTry({ name, isBridged, scene }: Mutant): Generator<number> {
  const named = readMutantSeeds().get(name);
  if (named !== undefined) yield named;
  for (let seed = Number(values.from); ; seed += 1) {
    const plan = drawSeedPlan(seed);
    const isFit = (isBridged !== true || plan.bridge !== undefined) && (scene === undefined || plan.scene === scene);
    if (isFit && seed !== named) yield seed;
  }
}
