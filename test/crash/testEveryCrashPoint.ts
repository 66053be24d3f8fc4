import { isDeepStrictEqual } from "node:util";
import type { CrashPoint } from "./crashInjector.ts";
import type { Outcome } from "./outcome.ts";
import type { Scenario, ScenarioResult } from "./scenario.ts";

export type CrashPointOptions = Pick<CrashPoint, "scope" | "moment"> & {
  /** The first step at which a process ends, from 1. */
  first?: number;
  /** How many steps further each next one ends. */
  stride?: number;
};

export type CrashPointReport = {
  /** How often a process ended. */
  interruptions: number;
  /** For each walk that did not turn out as one without an end does: where it ended, and what was different. */
  differences: readonly string[];
};

/** A walk has a few hundred steps; a sweep that is still not through after so many does not end. */
const STEPS_MAX = 5_000;

/** Walks once for each step at which the process is to end, until a walk does not come so far, and compares how each turned out. */
export async function testEveryCrashPoint(scenario: Scenario, options: CrashPointOptions): Promise<CrashPointReport> {
  const { scope, moment, first = 1, stride = 1 } = options;
  const { outcome: expected } = await scenario.runWithCrashes();
  const differences: string[] = [];
  let interruptions = 0;
  for (let nth = first; nth < STEPS_MAX; nth += stride) {
    const walked = await compareRun(
      expected,
      () => scenario.runWithCrashes({ scope, nth, moment }),
      `${moment} step ${nth} of ${scope}`,
    );
    if (!walked.isReached) return { interruptions, differences: [...differences, ...(await scenario.findings())] };
    differences.push(...walked.differences);
    interruptions += 1;
  }
  throw new Error(`more than ${STEPS_MAX} steps`);
}

/** Lets a process sleep before each step outside of transactions in turn, until a walk has no such step. */
export async function testEveryPausePoint(
  scenario: Scenario,
  { first = 1, stride = 1 }: { first?: number; stride?: number },
): Promise<CrashPointReport> {
  const { outcome: expected } = await scenario.runWithCrashes();
  const differences: string[] = [];
  let interruptions = 0;
  for (let nth = first; nth < STEPS_MAX; nth += stride) {
    const slept = await compareRun(expected, () => scenario.runWithPause(nth), `asleep before step ${nth}`);
    if (!slept.isReached) return { interruptions, differences: [...differences, ...(await scenario.findings())] };
    differences.push(...slept.differences);
    interruptions += 1;
  }
  throw new Error(`more than ${STEPS_MAX} steps`);
}

/** Walks and says what differs from a walk to which nothing happened. */
export async function compareRun(
  expected: Outcome,
  runScenario: () => Promise<ScenarioResult>,
  where: string,
): Promise<{ isReached: boolean; differences: string[] }> {
  try {
    const { outcome, interruptedAt } = await runScenario();
    const isSame = interruptedAt === undefined || isDeepStrictEqual(outcome, expected);
    const differences = isSame ? [] : [`${where}, ${interruptedAt}:\n${diffOutcomes(expected, outcome)}`];
    return { isReached: interruptedAt !== undefined, differences };
  } catch (error) {
    return { isReached: true, differences: [`${where}: ${error instanceof Error ? error.stack : String(error)}`] };
  }
}

/** The lines that only one of them has. */
function diffOutcomes(expected: Outcome, actual: Outcome): string {
  const linesOf = (outcome: Outcome) =>
    Object.entries(outcome).flatMap(([label, facts]) => facts.map((fact, index) => `${label} ${index + 1}: ${fact}`));
  const [was, is] = [new Set(linesOf(expected)), new Set(linesOf(actual))];
  return [
    ...[...is.difference(was)].map((line) => `  + ${line}`),
    ...[...was.difference(is)].map((line) => `  - ${line}`),
  ].join("\n");
}
