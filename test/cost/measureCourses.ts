import type { PostgresServer } from "../support/postgres.ts";
import { COURSES } from "./courses.ts";
import { openCostWorld } from "./costWorld.ts";
import { isExcessive, readRowsMax, type StatementCost } from "./statementCost.ts";

/** The worst execution of a statement. */
export type MeasuredStatement = { text: string; course: string; cost: StatementCost };

/** With fewer intents than these, PostgreSQL rightly reads all inboxes to find thirty. */
const INTENTS_ENOUGH = 30_000;

/** Runs all courses after this many movements of history, and returns each statement's worst execution by text. */
export async function measureCourses(
  server: PostgresServer,
  movements: number,
): Promise<ReadonlyMap<string, MeasuredStatement>> {
  // The deposit, and two legs of its settlement. Payments come in fours.
  const payments = Math.ceil(movements / 12) * 4;
  const intents = Math.max(payments, Math.min(movements, INTENTS_ENOUGH));
  const world = await openCostWorld(server, { name: `movements_${movements}`, payments, intents });
  const worst = new Map<string, MeasuredStatement>();
  for (const { name: course, exemption, run } of COURSES) {
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
