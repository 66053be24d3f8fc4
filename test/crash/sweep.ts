import { isDeepStrictEqual } from "node:util";
import type { End } from "./fuse.ts";
import type { Outcome } from "./outcome.ts";
import type { Scenario, Walk } from "./scenario.ts";

export type SweepOptions = Pick<End, "among" | "moment"> & {
  /** The first step at which a process ends, from 1. */
  first?: number;
  /** How many steps further each next one ends. */
  stride?: number;
};

export type Sweep = {
  /** How often a process ended. */
  ends: number;
  /** For each walk that did not turn out as one without an end does: where it ended, and what was different. */
  differences: readonly string[];
};

/** A walk has a few hundred steps; a sweep that is still not through after so many does not end. */
const STEPS_MAX = 5_000;

/** Walks once for each step at which the process is to end, until a walk does not come so far, and compares how each turned out. */
export async function sweep(scenario: Scenario, options: SweepOptions): Promise<Sweep> {
  const { among, moment, first = 1, stride = 1 } = options;
  const { outcome: expected } = await scenario.walk();
  const differences: string[] = [];
  let ends = 0;
  for (let nth = first; nth < STEPS_MAX; nth += stride) {
    const walked = await compared(
      expected,
      () => scenario.walk({ among, nth, moment }),
      `${moment} step ${nth} of ${among}`,
    );
    if (!walked.isReached) return { ends, differences: [...differences, ...(await scenario.findings())] };
    differences.push(...walked.differences);
    ends += 1;
  }
  throw new Error(`more than ${STEPS_MAX} steps`);
}

/** Lets a process sleep before each step outside of transactions in turn, until a walk has no such step. */
export async function sweepSleeps(
  scenario: Scenario,
  { first = 1, stride = 1 }: { first?: number; stride?: number },
): Promise<Sweep> {
  const { outcome: expected } = await scenario.walk();
  const differences: string[] = [];
  let ends = 0;
  for (let nth = first; nth < STEPS_MAX; nth += stride) {
    const slept = await compared(expected, () => scenario.sleep(nth), `asleep before step ${nth}`);
    if (!slept.isReached) return { ends, differences: [...differences, ...(await scenario.findings())] };
    differences.push(...slept.differences);
    ends += 1;
  }
  throw new Error(`more than ${STEPS_MAX} steps`);
}

/** Walks and says what differs from a walk to which nothing happened. */
export async function compared(
  expected: Outcome,
  walk: () => Promise<Walk>,
  where: string,
): Promise<{ isReached: boolean; differences: string[] }> {
  try {
    const { outcome, endedAt } = await walk();
    const isSame = endedAt === undefined || isDeepStrictEqual(outcome, expected);
    const differences = isSame ? [] : [`${where}, ${endedAt}:\n${differenceOf(expected, outcome)}`];
    return { isReached: endedAt !== undefined, differences };
  } catch (error) {
    return { isReached: true, differences: [`${where}: ${error instanceof Error ? error.stack : String(error)}`] };
  }
}

/** The lines that only one of them has. */
function differenceOf(expected: Outcome, actual: Outcome): string {
  const linesOf = (outcome: Outcome) =>
    Object.entries(outcome).flatMap(([label, facts]) => facts.map((fact, index) => `${label} ${index + 1}: ${fact}`));
  const [was, is] = [new Set(linesOf(expected)), new Set(linesOf(actual))];
  return [
    ...[...is.difference(was)].map((line) => `  + ${line}`),
    ...[...was.difference(is)].map((line) => `  - ${line}`),
  ].join("\n");
}
