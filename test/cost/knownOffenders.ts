/**
 * TEMPORARY: statements whose cost still grows with history, each by a part of its text. A statement leaves this list with the change that
 * mends it. At the end the list is empty and goes.
 */
export const KNOWN_OFFENDERS: readonly string[] = [
  // listOutboundMovements: looks for unprocessed arrivals from the first revision on, once for each departure.
  'select * from "movement" where "chain" = $1 and "direction" = $2 and (revision, id) > ($…) and not exists ( select from movement arrival',
  // listSweptDeposits: reads every deposit of the inbox, or of all inboxes.
  "with sweep_before as ( select block_number, place from movement where intent_id = $1",
  // pruneBlocks: visits every block with movements among the last 10,000 again, with all of these movements.
  'delete from "block" where "chain" = $1 and "number" < $2 and "number" >= $3 and not exists',
  // The API's pages of deposits and settlements: the planner walks the table's order instead of the intent's.
  'select * from "listed_deposit" where "intent_id" = $1 order by "movement_id" desc limit',
  'select * from "settlement" where "intent_id" = $1 order by "seq" desc limit',
  // The operator's list of intents by status has no index.
  'select * from "intent" where "status" = $1 order by "seq" desc limit',
  // The operator's list of accounts sorts all of them; it shows with some ten thousand.
  'select * from "account" order by "created_at", "id" limit',
  // The sums of dust: no history, but six times the dust that one round adds up, in a single returned row.
  "with asked as ( select * from unnest($1::text[], $2::text[], $3::text[], $4::int8[]) as asked (intent_id, chain, token, dust_from)",
];

export function isKnownOffender({ text }: { text: string }): boolean {
  return KNOWN_OFFENDERS.some((part) => text.includes(part));
}

/** TEMPORARY, in the same way: statements of one payment that read the dust of another inbox. */
const KNOWN_DUST_OFFENDERS: readonly string[] = [
  ...KNOWN_OFFENDERS,
  // listMovementsBetween, as the scan for a viewed inbox uses it: reads every movement of the last 128 blocks.
  'select * from "movement" where "chain" = $1 and "block_number" >= $2 and "block_number" <= $3 and "orphaned_at" is null',
];

export function isKnownDustOffender({ text }: { text: string }): boolean {
  return KNOWN_DUST_OFFENDERS.some((part) => text.includes(part));
}
