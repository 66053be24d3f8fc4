import { sql, type RawBuilder } from "kysely";
import type { Db } from "../db/database.ts";

/** An invariant of the rows, as a query that finds violations. */
export type Check = {
  /** Kebab case. It never changes, because alarms and scripts use it. */
  name: string;
  /** The meaning of a found row, in a sentence. */
  meaning: string;
  /** One statement, so that it reads one snapshot. Its columns point a person to the rows. */
  query: RawBuilder<unknown>;
};

export type Violation = { check: string; meaning: string; rows: Record<string, unknown>[] };

/** A few rows show the problem; thousands show no more. */
const ROWS_MAX = 20;
/** The timeout of one check. */
const TIMEOUT_MS = 300_000;

/** Runs the checks. Returns those that found violations, each with its first rows. */
export async function runChecks(db: Db, checks: readonly Check[]): Promise<Violation[]> {
  return db.transaction(async (tx) => {
    // Checks read whole tables, so they need a longer timeout than other statements.
    await sql`set local statement_timeout = ${sql.lit(TIMEOUT_MS)}`.execute(tx);
    const violations: Violation[] = [];
    for (const { name, meaning, query } of checks) {
      const { rows } = await sql<Record<string, unknown>>`select * from (${query}) as found limit ${ROWS_MAX}`.execute(
        tx,
      );
      if (rows.length > 0) violations.push({ check: name, meaning, rows });
    }
    return violations;
  });
}
