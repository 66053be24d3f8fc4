import type { SimDatabase } from "./simDatabase.ts";
import { runSeed, type Run } from "./simulation.ts";

const RUNS_MAX = 120;

/**
 * Removes one part of a failing run after another while the same rule still fails. Returns the smallest failing run.
 */
export async function shrink(
  database: SimDatabase,
  failing: Run,
): Promise<{ run: Run; without: ReadonlySet<string>; runs: number }> {
  let without = new Set<string>();
  let smallest = failing;
  let runs = 0;
  for (const names of candidates(failing)) {
    if (runs >= RUNS_MAX) break;
    const fewer = new Set([...without, ...names]);
    if (fewer.size === without.size) continue;
    runs += 1;
    const run = await runSeed(database, { seed: failing.seed, without: fewer, hasEndpoints: failing.hasEndpoints });
    if (run.violation?.rule !== failing.violation?.rule) continue;
    without = fewer;
    smallest = run;
  }
  const run = await runSeed(database, {
    seed: failing.seed,
    without,
    isTraced: true,
    hasEndpoints: failing.hasEndpoints,
  });
  return { run: run.violation ? run : smallest, without, runs };
}

/** Removes many parts at once first, then single ones. */
function candidates({ plan, faultKinds, injected }: Run): string[][] {
  const idle = faultKinds.filter((kind) => !injected.has(kind));
  const active = faultKinds.filter((kind) => injected.has(kind));
  const half = Math.ceil(active.length / 2);
  const creates = plan.creates.map(({ name }) => name);
  const payments = plan.creates.flatMap((create) => create.payments.map(({ name }) => name));
  return [
    idle,
    active,
    active.slice(half),
    active.slice(0, half),
    ...active.map((kind) => [kind]),
    ...["scene", "chain-1", "processes", "strangers", "copies", "archives", "views"].map((name) => [name]),
    ...creates.map((name) => [name]),
    ...payments.map((name) => [name]),
    ...active.map((kind) => [kind]),
  ];
}
