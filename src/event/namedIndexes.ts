import { sql, type RawBuilder } from "kysely";

/** Above every sequence. */
const SEQUENCE_MAX = 9_223_372_036_854_775_807n;

/**
 * The events of an account's feed behind a sequence, in the order of account and sequence. A range of both columns keeps
 * the planner from reading and sorting the whole rest of the feed where it has no statistics.
 */
export function behind(accountNumber: RawBuilder<unknown>, after: bigint): RawBuilder<boolean> {
  return sql<boolean>`event.sequence is not null and (event.account_number, event.sequence) > (${accountNumber}, ${after}::int8)
    and (event.account_number, event.sequence) <= (${accountNumber}, ${SEQUENCE_MAX}::int8)`;
}
