import { parseArguments, parseInteger, exitWithUsage } from "./parseArguments.ts";
import { readCorpus, YOUNGER_THAN_CORPUS } from "./readCorpus.ts";
import type { Run } from "./simulation.ts";

const USAGE = `Usage: npm run sim -- [--seeds=300] [--from=1] [--scene=lateMoney] [--endpoints] [--verbose] [--all]
       npm run sim -- --seed=7[,178] [--corpus [--short]] [--trace] [--without=reorg,crash]

  --seeds    the number of seeds
  --from     the first seed
  --scene    only seeds with this scene; any scene with "any"
  --verbose  a line for each seed
  --all      continues after a failed seed, instead of searching for the smallest run with the same failure
  --seed     only these seeds
  --corpus   also the seeds that failed once; those that take little time with --short
  --trace    prints all events
  --endpoints gives the merchants webhook endpoints, which fail, hang and vanish
  --without  leaves out faults and other elements, by their names in a trace`;

const { values, positionals } = parseArguments(
  {
    seed: { type: "string" },
    corpus: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    seeds: { type: "string", default: "300" },
    from: { type: "string", default: "1" },
    scene: { type: "string" },
    trace: { type: "boolean", default: false },
    without: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    endpoints: { type: "boolean", default: false },
  },
  USAGE,
);
const [extra] = positionals;
if (extra !== undefined) exitWithUsage(`${extra} is one argument too many.`, USAGE);
const [first, count] = [parseInteger(values.from, "from", USAGE), parseInteger(values.seeds, "seeds", USAGE)];
const seeds = values.seed?.split(",").map((seed) => parseInteger(seed, "seed", USAGE));

const TRACE_LINES = 120;
/** The number of seeds between two progress lines. */
const SEEDS_PER_LINE = 100;

// Loaded after the arguments: help and refusals need no service.
const { SimDatabase } = await import("./simDatabase.ts");
const { RunSummary } = await import("./summary.ts");
const { shrink } = await import("./shrink.ts");
const { drawSeedPlan, runSeed } = await import("./simulation.ts");

const database = await SimDatabase.open();
const without = new Set(values.without.split(",").filter((name) => name !== ""));
if (seeds === undefined) await runMany();
else for (const seed of seeds) await runOne(seed, without);
if (values.corpus)
  for (const seed of readCorpus({ hasLong: !values.short })) await runOne(seed, without.union(YOUNGER_THAN_CORPUS));
await database.close();

async function runOne(seed: number, without: ReadonlySet<string>): Promise<void> {
  const run = await runSeed(database, { seed, without, isTraced: values.trace, hasEndpoints: values.endpoints });
  if (values.trace) process.stdout.write(`${run.lines.join("\n")}\n`);
  process.stdout.write(`${formatRun(run)}\n`);
  if (run.violation !== undefined) process.exitCode = 1;
}

async function runMany(): Promise<void> {
  const summary = new RunSummary(
    () => performance.now(),
    () => process.cpuUsage(),
  );
  for (let seed = first, done = 0; done < count; seed += 1) {
    if (!isAsked(seed)) continue;
    done += 1;
    const run = await runSeed(database, { seed, without, hasEndpoints: values.endpoints });
    summary.add(run);
    if (values.verbose) process.stdout.write(`${formatRun(run)}\n`);
    if (done % SEEDS_PER_LINE === 0 && done < count)
      process.stderr.write(`${done} of ${count} seeds, ${Math.round(performance.now() / 1_000)} s\n`);
    if (run.violation === undefined) continue;
    process.exitCode = 1;
    process.stdout.write(`${formatRun(run)}\n`);
    if (values.all) continue;
    await printSmallestRun(run);
    break;
  }
  process.stdout.write(`\n${summary.text()}\n`);
}

function isAsked(seed: number): boolean {
  if (values.scene === undefined) return true;
  const { scene } = drawSeedPlan(seed, without);
  return values.scene === "any" ? scene !== undefined : scene === values.scene;
}

async function printSmallestRun(failing: Run): Promise<void> {
  process.stdout.write("searching for the smallest run with the same failure …\n");
  const { run, without: left, runs } = await shrink(database, failing);
  process.stdout.write(`${run.lines.slice(-TRACE_LINES).join("\n")}\n`);
  process.stdout.write(
    `after ${runs} runs: npm run sim -- --seed ${run.seed} ${run.hasEndpoints ? "--endpoints " : ""}--trace --without ${[...left].join(",")}\n`,
  );
}

function formatRun({ seed, plan, steps, virtualMs, deposits, settlements, digest, violation }: Run): string {
  const facts = `${steps} steps, ${Math.round(virtualMs / 1_000)} s, ${deposits} deposits, ${settlements} settled`;
  const verdict = violation === undefined ? "holds" : `FAILS ${violation.rule}: ${violation.subject}`;
  return `seed ${seed}${plan.scene === undefined ? "" : ` (${plan.scene})`}: ${facts}, trace ${digest.slice(0, 12)}: ${verdict}`;
}
