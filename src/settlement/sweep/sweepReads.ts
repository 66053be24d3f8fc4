import { sql } from "kysely";
import type { Tx } from "../../db/database.ts";
import { array, type ElementType } from "../../db/parameters.ts";
import type { ConsumerCursorTable } from "../../handover/handoverTables.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../../watch/movement.ts";
import { findConsumerCursor } from "../../handover/cursorStore.ts";
import { handedOver } from "../../watch/store/namedIndexes.ts";
import type { Sweep } from "../settlement.ts";

// Reads of the movements out of inboxes. Each touches about as many rows as it returns, however many movements are
// recorded.

/** Above every revision. */
const REVISION_MAX = 2n ** 63n - 1n;

/**
 * Arrivals read for one sweep. An inbox that received more since its previous sweep is not compared with what the sweep
 * moved, because anybody can send many small transfers, and the statement must stay short.
 */
export const ARRIVALS_READ_MAX = 10_000;

/**
 * Makes the planner read by index until the end of the transaction. It takes an inbox with very many transfers for a
 * large part of the table, and would read the whole table where a limit ends the read of an index.
 */
export async function preferIndexScans(tx: Tx): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`.execute(tx);
}

/**
 * Movements out of inboxes that changed since the cursor, in commit order. Stops before a movement that is not older
 * than the first unprocessed movement into an inbox, because a sweep is complete only when all of its deposits are
 * known.
 */
export async function listOutboundMovements(
  tx: Tx,
  cursor: ConsumerCursorTable,
  limit: number,
): Promise<MovementRow[]> {
  const { chain } = cursor;
  const depositCursor = await findConsumerCursor(tx, "deposit_cursor", chain);
  // One statement, thus one snapshot: a segment that commits meanwhile shows all of its movements, or none.
  const firstUnprocessed = sql<bigint>`(select arrival.revision from movement arrival
    where ${handedOver(chain, "in", "arrival")}
      and (arrival.revision, arrival.id) > (${depositCursor.revision}, ${depositCursor.movement_id})
    order by arrival.revision, arrival.id limit 1)`;
  return tx
    .selectFrom("movement")
    .selectAll()
    .where(handedOver(chain, "out"))
    .where(sql<boolean>`(revision, id) > (${cursor.revision}, ${cursor.movement_id})`)
    .where(sql<boolean>`revision < coalesce(${firstUnprocessed}, ${REVISION_MAX})`)
    .orderBy("revision")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** All movements out of inboxes in these transactions: the legs of a sweep belong together, across pages. */
export async function listSweepLegs(
  tx: Tx,
  scope: { chain: Caip2; chainTxs: readonly string[] },
): Promise<MovementRow[]> {
  const { rows } = await sql<MovementRow>`
    select leg.* from (select distinct * from unnest(${array(scope.chainTxs, "text")})) as asked (chain_tx) cross join lateral (
      select * from movement where movement.chain = ${scope.chain} and movement.chain_tx = asked.chain_tx
        and movement.direction || '' = 'out' offset 0
    ) as leg`.execute(tx);
  return rows;
}

/** What an inbox held for a sweep. */
export type SweepArrivals = {
  /** The last transfer of the previous sweep; -1 and -1 without one. */
  previous: PlaceOnChain;
  /**
   * What came in since the previous sweep, with what that one left. Undefined above ARRIVALS_READ_MAX, and where what
   * was left is not known any more.
   */
  arrivedUnits: bigint | undefined;
};

type PlaceOnChain = { blockNumber: bigint; place: bigint };

/** `restUnits`: what the previous sweep left; null where no holding knows it. */
type ArrivalRow = PlaceOnChain & { units: bigint; arrivals: bigint; restUnits: bigint | null };

/**
 * The arrivals of each sweep, in the order of `sweeps`. A sweep takes all that came in since the previous one, unless
 * it is a burn of as much as the bridge takes at once. Only places on the chain decide, so the result does not depend
 * on the order of processing. Orphaned arrivals do not count.
 */
export async function listSweepArrivals(tx: Tx, chain: Caip2, sweeps: readonly Sweep[]): Promise<SweepArrivals[]> {
  if (sweeps.length === 0) return [];
  const column = (valueOf: (sweep: Sweep) => string | bigint, type: ElementType) => array(sweeps.map(valueOf), type);
  const { rows } = await sql<ArrivalRow>`
    select coalesce(previous.block_number, -1) as "blockNumber", coalesce(previous.place, -1) as place, arrived.units, arrived.arrivals,
      coalesce((
        select holding.rest_units from holding
        where holding.intent_id = sweep.intent_id and holding.chain = ${chain} and holding.token = sweep.token
          and holding.rest_block = previous.block_number and holding.rest_place = previous.place),
        case when previous.explained_by is null then 0 end) as "restUnits"
    from unnest(
      ${column((sweep) => sweep.intentId, "text")}, ${column((sweep) => sweep.token, "text")},
      ${column((sweep) => sweep.chainTx, "text")},
      ${column((sweep) => sweep.blockNumber, "int8")}, ${column((sweep) => sweep.placeLast, "int8")},
      ${column((sweep) => (sweep.burnId === null ? -1n : sweep.placeFirst), "int8")}
    ) with ordinality as sweep (intent_id, token, chain_tx, block_number, place, burn_place, number)
    left join lateral (
      select departure.block_number, departure.place, departure.explained_by from movement departure
      where departure.intent_id = sweep.intent_id and departure.chain = ${chain} and departure.token = sweep.token
        and departure.direction = 'out' and departure.orphaned_at is null
        and (departure.chain_tx <> sweep.chain_tx or departure.place < sweep.burn_place)
        and (departure.block_number, departure.place) < (sweep.block_number, sweep.place)
      order by departure.block_number desc, departure.place desc limit 1
    ) as previous on true
    cross join lateral (
      select coalesce(sum(amount_units), 0) as units, count(*) as arrivals from (
        select arrival.amount_units from movement arrival
        where arrival.intent_id = sweep.intent_id and arrival.chain = ${chain} and arrival.token = sweep.token
          and arrival.direction = 'in' and arrival.orphaned_at is null
          and (arrival.block_number, arrival.place) < (sweep.block_number, sweep.place)
          and (arrival.block_number, arrival.place) > (coalesce(previous.block_number, -1), coalesce(previous.place, -1))
        order by arrival.block_number, arrival.place
        limit ${ARRIVALS_READ_MAX + 1}
      ) as read_arrivals
    ) as arrived
    order by sweep.number`.execute(tx);
  return addRests(sweeps, rows);
}

/** Adds what each previous sweep left: the last known one by its holding, those of the same call by themselves. */
function addRests(sweeps: readonly Sweep[], rows: readonly ArrivalRow[]): SweepArrivals[] {
  const arrivals: SweepArrivals[] = [];
  const restAfter = new Map<string, bigint>();
  for (const [index, sweep] of sweeps.entries()) {
    const { blockNumber, place, units, arrivals: count, restUnits } = rows[index] ?? NO_ARRIVALS;
    const rest = restUnits ?? restAfter.get(restKey(sweep, { blockNumber, place }));
    const isKnown = rest !== undefined && count <= BigInt(ARRIVALS_READ_MAX);
    const arrivedUnits = isKnown ? units + rest : undefined;
    arrivals.push({ previous: { blockNumber, place }, arrivedUnits });
    if (arrivedUnits === undefined) continue;
    const leftUnits = arrivedUnits - sweep.legs.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
    const own = { blockNumber: sweep.blockNumber, place: sweep.placeLast };
    restAfter.set(restKey(sweep, own), leftUnits > 0n ? leftUnits : 0n);
  }
  return arrivals;
}

const NO_ARRIVALS: ArrivalRow = { blockNumber: -1n, place: -1n, units: 0n, arrivals: 0n, restUnits: 0n };

function restKey({ intentId, token }: Sweep, { blockNumber, place }: PlaceOnChain): string {
  return `${intentId}/${token}/${blockNumber}/${place}`;
}
