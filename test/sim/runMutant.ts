import { registerHooks } from "node:module";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutant.ts";
import { mutants } from "./mutants.ts";

// Runs seeds with one planted bug until one of them finds it. Each bug needs its own process, because modules load once:
// node test/sim/runMutant.ts <name> [--seeds 500] [--from 1]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: "string", default: "500" }, from: { type: "string", default: "1" } },
});
const mutant = mutants.find(({ name }) => name === positionals[0]);
if (!mutant)
  throw new Error(`There is no planted bug ${positionals[0]}: ${mutants.map(({ name }) => name).join(", ")}`);
installPatches(mutant);

const { SimDatabase } = await import("./simDatabase.ts");
const { runSeed } = await import("./simulation.ts");
const database = await SimDatabase.open();
for (const statement of mutant.statements ?? []) database.query(statement);
const first = Number(values.from);
for (let seed = first; seed < first + Number(values.seeds); seed += 1) {
  const { violation } = await runSeed(database, { seed });
  if (violation === undefined) continue;
  process.stdout.write(`${JSON.stringify({ seed, after: seed - first + 1, ...violation })}\n`);
  break;
}
await database.close();

function installPatches({ name, patches }: Mutant): void {
  const root = new URL("../../", import.meta.url);
  const byUrl = Map.groupBy(patches, ({ path }) => new URL(path, root).href);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const planted = byUrl.get(url);
      if (planted === undefined || loaded.source === undefined || loaded.source === null) return loaded;
      let source =
        typeof loaded.source === "string" ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString();
      for (const { search, replace } of planted) {
        if (source.split(search).length !== 2)
          throw new Error(`${name} does not match its text in ${fileURLToPath(url)}`);
        source = source.replace(search, () => replace);
      }
      return { ...loaded, source };
    },
  });
}
