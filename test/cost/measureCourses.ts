import type { PostgresServer } from "../support/postgres.ts";
import type { Statistics } from "./fillHistory.ts";
import { COURSES } from "./courses.ts";
import { openCostWorld } from "./costWorld.ts";
import { isExcessive, readRowsMax, type StatementCost } from "./statementCost.ts";

/** The worst execution of a statement. */
export type MeasuredStatement = { text: string; course: string; cost: StatementCost };

/** With fewer intents than these, PostgreSQL rightly reads all inboxes to find thirty. */
const INTENTS_ENOUGH = 30_000;

/**
 * What the planner meets. Even: half of the payments in one inbox. Skewed: nine tenths of the movements there, and few
 * deposits.
 */
export type Setting = { shape: "even" | "skewed"; statistics: Statistics; plans: "auto" | "generic" };

export const EVEN_NOW: Setting = { shape: "even", statistics: "now", plans: "auto" };

const STATISTICS = ["never", "when empty", "now"] as const;
export const ALL_SETTINGS: readonly Setting[] = (["even", "skewed"] as const).flatMap((shape) =>
  STATISTICS.flatMap((statistics) => (["auto", "generic"] as const).map((plans) => ({ shape, statistics, plans }))),
);

export function formatSetting({ shape, statistics, plans }: Setting): string {
  return `${shape}, analysed ${statistics}, ${plans} plans`;
}

/** The deposits of a skewed history are fewer than a hundred. */
const SKEWED_PAYMENTS = 96;

/** Runs all courses after this many movements of history, and returns each statement's worst execution by text. */
export async function measureCourses(
  server: PostgresServer,
  movements: number,
  setting: Setting = EVEN_NOW,
): Promise<ReadonlyMap<string, MeasuredStatement>> {
  const { shape, statistics, plans } = setting;
  // The deposit, and two legs of its settlement. Payments come in fours.
  const payments = shape === "even" ? Math.ceil(movements / 12) * 4 : SKEWED_PAYMENTS;
  const intents = Math.max(payments, Math.min(movements, INTENTS_ENOUGH));
  const dust = movements - 3 * payments;
  const world = await openCostWorld(server, {
    name: `movements_${movements}_${shape}_${statistics.replace(" ", "_")}_${plans}`,
    payments,
    intents,
    statistics,
    plans,
    ...(shape === "skewed" && dust > 0 ? { dust } : {}),
  });
  const worst = new Map<string, MeasuredStatement>();
  const isAsItRuns = statistics === "now" && plans === "auto";
  for (const { name: course, exemption, isOffRoad, run } of COURSES) {
    if (isOffRoad === true && !isAsItRuns) continue;
    await run(world);
    const recorded = await world.log.take();
    if (exemption !== undefined) continue;
    for (const { text, cost } of recorded) {
      const known = worst.get(shortenText(text));
      if (known === undefined || excessOf(cost) > excessOf(known.cost))
        worst.set(shortenText(text), { text: shortenText(text), course, cost });
    }
  }
  await world.close();
  return worst;
}

export function listOffenders(measured: ReadonlyMap<string, MeasuredStatement>): MeasuredStatement[] {
  return [...measured.values()]
    .filter(({ cost }) => isExcessive(cost))
    .toSorted((one, other) => other.cost.readRows - one.cost.readRows);
}

/** Formats offenders for a reader. `before` has the same statements after less history. */
export function formatOffenders(
  offenders: readonly MeasuredStatement[],
  before?: ReadonlyMap<string, MeasuredStatement>,
): string {
  return offenders
    .map(({ text, course, cost }) => {
      const { readRows, returnedRows, writtenRows, givenRows, pages, node } = cost;
      const less = before?.get(text)?.cost.readRows;
      const facts = [
        `${readRows} rows read of ${readRowsMax(cost)}${less === undefined ? "" : ` (${less} with less history)`}`,
        `${returnedRows} returned, ${writtenRows} written, ${givenRows} given`,
        `${pages} pages`,
        `most by ${node}`,
        `in "${course}"`,
      ];
      return `${facts.join("; ")}\n    ${text.slice(0, TEXT_LENGTH_MAX)}`;
    })
    .join("\n");
}

const TEXT_LENGTH_MAX = 200;

function excessOf(cost: StatementCost): number {
  return cost.readRows / readRowsMax(cost);
}

/** Statements that differ only in the length of a list are one. */
export function shortenText(text: string): string {
  return text.replaceAll(/\$\d+(?:, \$\d+)+/g, "$…").replaceAll(/(\(\$…\))(?:, \(\$…\))+/g, "$1, …");
}
