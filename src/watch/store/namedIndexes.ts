import { sql, type RawBuilder } from "kysely";
import type { Direction } from "../movement.ts";

// Conditions on movements in the form of an index whose first columns select very many rows. Only a statement with such
// a condition can use the index, so no plan depends on statistics here.

type Text = string | RawBuilder<unknown>;

/** The movements of a chain, by block. */
export function inBlocksOf(chain: Text, table = "movement"): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${table}.chain`)} || '') = ${chain}`;
}

/** The movements of a chain in one direction, by revision and id. */
export function handedOver(chain: Text, direction: Direction, table = "movement"): RawBuilder<boolean> {
  const key = typeof chain === "string" ? `${chain} ${direction}` : sql`${chain} || ${sql.lit(` ${direction}`)}`;
  return sql<boolean>`(${sql.ref(`${table}.chain`)} || ' ' || ${sql.ref(`${table}.direction`)}) = ${key}`;
}

/**
 * The movements into an intent's inboxes, by id, in the order of `NEWEST_ARRIVALS_FIRST`. A range of one id keeps the
 * planner from sorting them all.
 */
export function arrivalsById(intentId: Text, table = "movement"): RawBuilder<boolean> {
  const { of, isIn } = { of: sql.ref(`${table}.intent_id`), isIn: sql.ref(`${table}.direction`) };
  return sql<boolean>`(${of} || '') >= ${intentId} and (${of} || '') <= ${intentId} and ${isIn} = 'in'`;
}

export const NEWEST_ARRIVALS_FIRST = sql`(movement.intent_id || ''), movement.id desc`;

/** The movements into an intent's inboxes on a chain, by revision and id. */
export function arrivalsByRevision(of: { intentId: Text; chain: Text }, table = "movement"): RawBuilder<boolean> {
  const [intentId, chain, direction] = ["intent_id", "chain", "direction"].map((column) =>
    sql.ref(`${table}.${column}`),
  );
  return sql<boolean>`(${intentId} || ' ' || ${chain}) = ${of.intentId} || ' ' || ${of.chain} and ${direction} = 'in'`;
}
