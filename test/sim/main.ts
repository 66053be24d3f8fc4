import { parseArgs } from "node:util";
import { SimDatabase } from "./database.ts";
import { runSeed } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "300" },
    from: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    without: { type: "string", default: "" },
  },
});
const database = await SimDatabase.open();
const without = new Set(values.without.split(",").filter((name) => name !== ""));
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const started = performance.now();
const cpu0 = process.cpuUsage();
for (let seed = first; seed < first + count; seed += 1) {
  const t = performance.now();
  const run = await runSeed(database, { seed, without, isTraced: values.trace });
  if (values.trace) console.log(run.lines.join("\n"));
  console.log(
    seed,
    Math.round(performance.now() - t),
    "ms",
    run.steps,
    "steps",
    Math.round(run.virtualMs / 1000),
    "s",
    run.deposits,
    "dep",
    run.settlements,
    "set",
    run.digest.slice(0, 8),
    run.violation ?? "",
  );
}
const cpu = process.cpuUsage(cpu0);
console.log(
  Math.round((performance.now() - started) / count),
  "ms wall a seed",
  Math.round((cpu.user + cpu.system) / 1000 / count),
  "ms cpu",
);
await database.close();
