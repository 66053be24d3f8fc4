import { isDeepStrictEqual } from "node:util";
import type { CrashPoint } from "./crashInjector.ts";
import type { Outcome } from "./outcome.ts";
import type { Scenario, ScenarioResult } from "./scenario.ts";

export type CrashPointOptions = Pick<CrashPoint, "scope" | "moment"> & {
  /** The first step of a crash, from 1. */
  first?: number;
  /** The distance between two tested steps. */
  stride?: number;
};

export type CrashPointReport = {
  /** The number of crashes or pauses. */
  interruptions: number;
  /** For each run with another outcome than an uninterrupted one: its crash and the differences. */
  differences: readonly string[];
};

/** A run has a few hundred steps; a longer one does not end. */
const STEPS_MAX = 5_000;

/** Runs once per crash point until a run does not reach its point, and compares the outcomes. */
export async function testEveryCrashPoint(scenario: Scenario, options: CrashPointOptions): Promise<CrashPointReport> {
  const { scope, moment, first = 1, stride = 1 } = options;
  const { outcome: expected } = await scenario.runWithCrashes();
  const differences: string[] = [];
  let interruptions = 0;
  for (let nth = first; nth < STEPS_MAX; nth += stride) {
    const result = await compareRun(
      expected,
      () => scenario.runWithCrashes({ scope, nth, moment }),
      `${moment} step ${nth} of ${scope}`,
    );
    if (!result.isReached) return { interruptions, differences: [...differences, ...(await scenario.findings())] };
    differences.push(...result.differences);
    interruptions += 1;
  }
  throw new Error(`more than ${STEPS_MAX} steps`);
}

/** Pauses a process before each step outside of transactions in turn, until a run has no such step. */
export async function testEveryPausePoint(
  scenario: Scenario,
  { first = 1, stride = 1 }: { first?: number; stride?: number },
): Promise<CrashPointReport> {
  const { outcome: expected } = await scenario.runWithCrashes();
  const differences: string[] = [];
  let interruptions = 0;
  for (let nth = first; nth < STEPS_MAX; nth += stride) {
    const result = await compareRun(expected, () => scenario.runWithPause(nth), `paused before step ${nth}`);
    if (!result.isReached) return { interruptions, differences: [...differences, ...(await scenario.findings())] };
    differences.push(...result.differences);
    interruptions += 1;
  }
  throw new Error(`more than ${STEPS_MAX} steps`);
}

/** Runs the scenario and lists its differences from an uninterrupted run. */
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

/** The lines that only one outcome has. */
function diffOutcomes(expected: Outcome, actual: Outcome): string {
  const linesOf = (outcome: Outcome) =>
    Object.entries(outcome).flatMap(([label, facts]) => facts.map((fact, index) => `${label} ${index + 1}: ${fact}`));
  const [was, is] = [new Set(linesOf(expected)), new Set(linesOf(actual))];
  return [
    ...[...is.difference(was)].map((line) => `  + ${line}`),
    ...[...was.difference(is)].map((line) => `  - ${line}`),
  ].join("\n");
}
