import { sql, type RawBuilder } from "kysely";

/** The states in which an inbox waits for its settlement. The database allows one such row for each inbox and token. */
export const OPEN_SETTLEMENT_STATES = ["planned", "submitted", "held"] as const;

const LIST = sql.join(OPEN_SETTLEMENT_STATES.map((state) => sql.lit(state)));

/** SQL for whether the settlement of this name is open, as literals, so that its partial index serves. */
export function isOpenSettlement(name: string): RawBuilder<boolean> {
  return sql`${sql.ref(`${name}.status`)} in (${LIST})`;
}

/** SQL: what an intent's inboxes hold of its counted money, by their holdings. For the row `intent`. */
export const UNSWEPT_OF_INTENT = sql`(
  select coalesce(sum(each.unswept_units), 0) from holding each where each.intent_id = intent.id)`;

/**
 * SQL: what has left the inboxes of the row `intent`, landed or on its way, when they hold `unswept` of its counted
 * money. What a reorganisation took from the counted money stays delivered.
 */
export function takenUnits(unswept: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`greatest(intent.settled_units, intent.counted_units - ${unswept})`;
}
