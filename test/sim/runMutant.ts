import { parseArgs } from "node:util";
import { installPatches } from "./installPatches.ts";
import { mutants } from "./mutants.ts";

// Runs seeds with one planted bug until one of them finds it. Each bug needs its own process, because modules load
// once: node test/sim/runMutant.ts <name> [--seeds 500] [--from 1]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: "string", default: "500" }, from: { type: "string", default: "1" } },
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
for (let seed = Number(values.from); tried < Number(values.seeds); seed += 1) {
  if (mutant.isBridged === true && drawSeedPlan(seed).bridge === undefined) continue;
  tried += 1;
  const { violation } = await runSeed(database, { seed });
  if (violation === undefined) continue;
  process.stdout.write(`${JSON.stringify({ seed, after: tried, ...violation })}\n`);
  break;
}
await database.close();
