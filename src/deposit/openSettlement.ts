import { sql, type RawBuilder } from "kysely";

/** The states in which an inbox waits for its settlement. The database allows one such row for each inbox and token. */
export const OPEN_SETTLEMENT_STATES = ["planned", "submitted", "held"] as const;

const LIST = sql.join(OPEN_SETTLEMENT_STATES.map((state) => sql.lit(state)));

/** SQL for whether the settlement of this name is open, as literals, so that its partial index serves. */
export function isOpenSettlement(name: string): RawBuilder<boolean> {
  return sql`${sql.ref(`${name}.status`)} in (${LIST})`;
}
