import { sql, type RawBuilder } from "kysely";
import type { Db } from "../db/database.ts";

/** Something that must hold of the rows at every moment, as a query that finds where it does not. */
export type Check = {
  /** Kebab case, the same for ever: what alarms and scripts go by. */
  name: string;
  /** What a row that the query finds means, in a sentence. */
  meaning: string;
  /** One statement, so that it sees one moment. Its columns tell a person where to look. */
  query: RawBuilder<unknown>;
};

export type Violation = { check: string; meaning: string; rows: Record<string, unknown>[] };

/** A few rows say what is wrong; thousands say no more. */
const ROWS_MAX = 20;
/** For one check. */
const TIMEOUT_MS = 300_000;

/** Those of the checks that do not hold, each with the first rows that it found. */
export async function runChecks(db: Db, checks: readonly Check[]): Promise<Violation[]> {
  return db.transaction(async (tx) => {
    // They read whole tables, and may take longer than any other statement.
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
