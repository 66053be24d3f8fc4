import { sql } from "kysely";
import type { Tx } from "../../db/database.ts";
import { array, unnest } from "../../db/parameters.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { MovementRow } from "../../watch/movement.ts";
import type { Holding, HoldingChange } from "./dust.ts";
import { dustOf, KEY_COLUMNS, lastSweepOf, type HoldingKey } from "./dustReads.ts";
import { COUNTED_REMAINDER, lastRemainderOf } from "./remainderReads.ts";
import { nearlyReachesPrice, reachesPrice } from "../../intent/paymentStatus.ts";
import { isOpenSettlement, takenUnits } from "../openSettlement.ts";

// All SQL that writes the sums of dust, and what each inbox holds.

/** The ids of those movements that have a deposit: a movement that became one stays one. */
export async function listMovementsWithDeposit(tx: Tx, movements: readonly MovementRow[]): Promise<Set<bigint>> {
  if (movements.length === 0) return new Set();
  const ids = movements.map((movement) => movement.id);
  const { rows } = await sql<{ id: bigint }>`
    select movement_id as id from deposit where movement_id = any(${array(ids, "int8")})`.execute(tx);
  return new Set(rows.map((row) => row.id));
}

/**
 * Notes in the holdings that dust is not in their sums yet. Dust in a block that is summed already, or was, makes the
 * sums stale. Only dust in the payout asset has sums; in another asset it is held permanently.
 */
export async function markUnsummed(tx: Tx, dust: readonly MovementRow[]): Promise<void> {
  if (dust.length === 0) return;
  const groups = [...Map.groupBy(dust, ({ intent_id, chain, token }) => `${intent_id}/${chain}/${token}`).values()];
  const lowest = (group: readonly MovementRow[]) => lowestBlock(group.map((movement) => movement.block_number));
  const notes = groups.flatMap((group) => {
    const [first] = group;
    const dustFrom = lowest(group.filter((movement) => movement.orphaned_at === null));
    return first === undefined ? [] : [{ ...keyOf(first), lowest_block: lowest(group), dust_from: dustFrom }];
  });
  await sql`
    merge into holding using (
      select * from ${unnest("noted", notes, { ...KEY_COLUMNS, lowest_block: "int8", dust_from: "int8" })}
      order by intent_id, chain, token
    ) as noted
    on (holding.intent_id, holding.chain, holding.token) = (noted.intent_id, noted.chain, noted.token)
    when matched then update set
      dust_from = least(holding.dust_from, case when noted.dust_from > holding.dust_block then noted.dust_from end),
      is_stale = holding.is_stale or noted.lowest_block <= holding.dust_block
    when not matched then insert (intent_id, chain, token, dust_from)
      values (noted.intent_id, noted.chain, noted.token, noted.dust_from)`.execute(tx);
}

/** Makes the sums of dust stale that contain one of these movements, or may. */
export async function markSummedStale(tx: Tx, movements: readonly MovementRow[]): Promise<void> {
  if (movements.length === 0) return;
  const columns = { ...KEY_COLUMNS, block_number: "int8" } as const;
  const named = movements.map((movement) => ({ ...keyOf(movement), block_number: movement.block_number }));
  await sql`
    update holding set is_stale = true from (
      select intent_id, chain, token, min(block_number) as block_number from ${unnest("given", named, columns)}
      group by intent_id, chain, token order by intent_id, chain, token
    ) as summed
    where (holding.intent_id, holding.chain, holding.token) = (summed.intent_id, summed.chain, summed.token)
      and summed.block_number <= holding.dust_block and not holding.is_stale`.execute(tx);
}

/** The columns that the sums of dust write. */
const SUM_COLUMNS = {
  ...KEY_COLUMNS,
  is_stale: "boolean",
  dust_block: "int8",
  waiting_count: "int8",
  waiting_units: "numeric",
  waiting_held_units: "numeric",
  late_count: "int8",
  late_units: "numeric",
  late_held_units: "numeric",
  counted_block: "int8",
  dust_count: "int8",
  dust_units: "numeric",
  dust_held_units: "numeric",
  dust_counted_at: "timestamptz",
  verified_block: "int8",
  verify_from: "timestamptz",
} as const;

const keyOf = ({ intent_id, chain, token }: MovementRow) => ({ intent_id, chain, token });

function lowestBlock(blocks: readonly bigint[]): bigint | null {
  return blocks.reduce<bigint | null>((lowest, block) => (lowest === null || block < lowest ? block : lowest), null);
}

/** The holdings of these intents, each inbox and token that has one. */
async function listHoldings(tx: Tx, intentIds: readonly string[]): Promise<Holding[]> {
  if (intentIds.length === 0) return [];
  const { rows } = await sql<Holding>`
    select holding.* from ${holdingsOf(intentIds)} order by holding.intent_id, holding.chain, holding.token`.execute(
    tx,
  );
  return rows;
}

/** The holdings of these intents by intent, in the form of changes that change nothing. */
export async function listUnchangedHoldings(
  tx: Tx,
  intentIds: readonly string[],
): Promise<Map<string, HoldingChange[]>> {
  const holdings = await listHoldings(tx, intentIds);
  const changes = holdings.map((holding) => ({ before: holding, after: holding }));
  return Map.groupBy(changes, ({ before }) => before.intent_id);
}

/** Marks the sums above a block as stale, after a reorganisation that went back to it. */
export async function markSumsStale(tx: Tx, { chain, above }: { chain: Caip2; above: bigint }): Promise<void> {
  await tx
    .updateTable("holding")
    .set({ is_stale: true })
    .where("chain", "=", chain)
    // The condition of the index, which a plan without the parameter's value does not know otherwise.
    .where(sql<boolean>`dust_block >= 0`)
    .where("dust_block", ">", above)
    .execute();
}

/**
 * Writes the dust columns of changed holdings, and the block in which their next dust is. The caller holds the intents'
 * locks.
 */
export async function writeHoldings(tx: Tx, holdings: readonly Holding[]): Promise<void> {
  if (holdings.length === 0) return;
  await sql`
    update holding set dust_from = case when holding.dust_from > changed.dust_block and not holding.is_stale then holding.dust_from else (
        select movement.block_number from movement where ${dustOf(sql`holding`)} and movement.block_number > changed.dust_block
        order by movement.block_number limit 1) end,
      is_stale = changed.is_stale, dust_block = changed.dust_block, waiting_count = changed.waiting_count, waiting_units = changed.waiting_units,
      waiting_held_units = changed.waiting_held_units, late_count = changed.late_count, late_units = changed.late_units,
      late_held_units = changed.late_held_units, counted_block = changed.counted_block, dust_count = changed.dust_count,
      dust_units = changed.dust_units, dust_held_units = changed.dust_held_units, dust_counted_at = changed.dust_counted_at,
      verified_block = changed.verified_block, verify_from = changed.verify_from
    from ${unnest("changed", holdings, SUM_COLUMNS)}
    where holding.intent_id = changed.intent_id and holding.chain = changed.chain and holding.token = changed.token`.execute(
    tx,
  );
}

const TAKEN_UNITS = takenUnits(sql`current.of_intent`);

/**
 * SQL for whether counted money belongs to a price that is not taken from the inboxes yet. A price up to which a
 * millionth is missing is taken, and the rest of it once more when it is complete. So nobody can have the service
 * settle one unit after the other, also while a bridge has the price.
 */
const BELONGS_TO_PRICE = sql`
  (not ${nearlyReachesPrice(TAKEN_UNITS)}
      and (intent.price_token_units >= minimum.units or ${nearlyReachesPrice(sql`intent.counted_units`)})
    or not ${reachesPrice(TAKEN_UNITS)} and ${reachesPrice(sql`intent.counted_units`)})`;

/** SQL: whether a later transfer out of its inbox has taken what came in by `mint`. */
const IS_SWEPT = sql`exists (
  select from movement departure where departure.intent_id = mint.intent_id and departure.chain = mint.chain
    and departure.token = mint.token and departure.direction = 'out' and departure.orphaned_at is null
    and (departure.block_number, departure.place) > (mint.block_number, mint.place))`;

/**
 * SQL: whether a landed sweep has taken a deposit that counted later, because providers omitted it before. Then the
 * settlement station assigns the deposit to it, whatever the minimum. The first deposit of an inbox decides.
 */
const IS_TAKEN_ALREADY = sql`exists (
  select from movement arrival join deposit on deposit.movement_id = arrival.id
  cross join lateral (
    select next.* from movement next where next.intent_id = arrival.intent_id and next.chain = arrival.chain
      and next.token = arrival.token and next.direction = 'out' and next.orphaned_at is null
      and (next.block_number, next.place) > (arrival.block_number, arrival.place)
    order by next.block_number, next.place limit 1
  ) as departure
  where arrival.intent_id = current.intent_id and arrival.chain = current.chain and arrival.token = current.token
    and arrival.direction = 'in' and arrival.orphaned_at is null and arrival.block_number = current.deposit_block
    and deposit.status = 'counted' and deposit.settlement_id is null
    and exists (select from settlement where settlement.chain = departure.chain and settlement.chain_tx = departure.chain_tx
      and settlement.intent_id = departure.intent_id and settlement.token = departure.token
      and settlement.status in ('landed','bridging')
      and (settlement.burn_id is null or settlement.burn_id = departure.id)))`;

/** SQL for the holdings of these intents: a look-up for each. */
const holdingsOf = (intentIds: readonly string[], name = "holding") => sql`
  (select held.* from (select distinct * from unnest(${array(intentIds, "text")})) as named (named_id) cross join lateral (
    select * from holding where holding.intent_id = named.named_id offset 0) as held) as ${sql.ref(name)}`;

/**
 * Computes for these intents again what is counted and in no landed sweep, and from when a settlement should be
 * planned. Every transaction that counts, drops, plans or sweeps calls it before its end, under the intents' locks. A
 * price that is reached is settled whatever the minimum. Further money waits until it reaches the minimum. Otherwise
 * tiny amounts would each cost a fee.
 */
export async function refreshHoldings(tx: Tx, intentIds: readonly string[]): Promise<void> {
  if (intentIds.length === 0) return;
  await sql`
    insert into holding (intent_id, chain, token, rest_counted_units, suspense_units, unswept_units, unswept_since, due_from)
    select current.intent_id, current.chain, current.token, current.rest_units, current.suspense_units, current.units, current.since,
      case when not exists (
          select from settlement
          where settlement.intent_id = current.intent_id and settlement.chain = current.chain and settlement.token = current.token
            and ${isOpenSettlement("settlement")})
        and (current.units >= minimum.units or ${BELONGS_TO_PRICE} or ${IS_TAKEN_ALREADY})
        then current.since end
    from (
      select intent_id, chain, token, sum(units) as units, sum(sum(units)) over (partition by intent_id) as of_intent, sum(rest_units) as rest_units, sum(suspense_units) as suspense_units,
        min(since) filter (where units > 0) as since, min(deposit_block) as deposit_block
      from (
        select deposit.intent_id, deposit.chain, deposit.token, deposit.amount_units as units, 0 as rest_units, 0 as suspense_units,
          deposit.counted_at as since, deposit.block_number as deposit_block
        from deposit where deposit.status = 'counted' and deposit.settlement_id is null
          and deposit.intent_id = any(${array(intentIds, "text")})
        union all
        select intent_id, chain, token, dust_held_units, 0, 0, dust_counted_at, null from ${holdingsOf(intentIds)}
        union all
        select intent_id, chain, token, counted.units, counted.units, 0, rest_since, null
        from ${holdingsOf(intentIds)} cross join lateral (${COUNTED_REMAINDER}) as counted
        where rest_units > 0
        union all
        select mint.intent_id, mint.chain, mint.token, mint.amount_units, 0, mint.amount_units, mint.seen_at, null
        from (select distinct * from unnest(${array(intentIds, "text")})) as named (named_id) cross join lateral (
          select * from movement where movement.in_suspense and movement.intent_id = named.named_id and movement.orphaned_at is null
          offset 0
        ) as mint
        where not ${IS_SWEPT}
      ) as part group by intent_id, chain, token
    ) as current
    cross join lateral (select each as whole from intent each where each.id = current.intent_id offset 0) as found
    cross join lateral (select (found.whole).*) as intent
    cross join lateral pinned_minimum(found.whole, current.chain, current.token) as minimum (units)
    order by current.intent_id, current.chain, current.token
    on conflict (intent_id, chain, token) do update set rest_counted_units = excluded.rest_counted_units,
      suspense_units = excluded.suspense_units, unswept_units = excluded.unswept_units, unswept_since = excluded.unswept_since, due_from = excluded.due_from
    where (holding.rest_counted_units, holding.suspense_units, holding.unswept_units, holding.unswept_since, holding.due_from)
      is distinct from (excluded.rest_counted_units, excluded.suspense_units, excluded.unswept_units, excluded.unswept_since, excluded.due_from)`.execute(
    tx,
  );
}

/**
 * Computes for these intents again how much of their dust no sweep has taken, after sweeps were observed or reverted.
 */
export async function refreshHeldDust(tx: Tx, intentIds: readonly string[]): Promise<void> {
  if (intentIds.length === 0) return;
  await sql`
    update holding set dust_held_units = held.counted_units - late.units, waiting_held_units = held.waiting_units + late.units,
      late_held_units = late.units
    from ${holdingsOf(intentIds, "asked")} left join lateral (${lastSweepOf(sql`asked`)}) as swept on true
    cross join lateral (
      select coalesce(sum(movement.amount_units) filter (where movement.block_number <= asked.counted_block), 0) as counted_units,
        coalesce(sum(movement.amount_units) filter (where movement.block_number > asked.counted_block), 0) as waiting_units
      from movement where ${dustOf(sql`asked`)} and movement.block_number <= asked.dust_block
        and movement.block_number >= coalesce(swept.block_number, 0)
        and (swept.block_number is null or (movement.block_number, movement.place) > (swept.block_number, swept.place))
    ) as held
    -- As if the late part were the last to leave, as in the sums.
    cross join lateral (select least(held.counted_units, asked.late_units) as units) as late
    where asked.dust_block >= 0
      and holding.intent_id = asked.intent_id and holding.chain = asked.chain and holding.token = asked.token
      and (holding.dust_held_units, holding.waiting_held_units, holding.late_held_units)
        is distinct from (held.counted_units - late.units, held.waiting_units + late.units, late.units)`.execute(tx);
}

/**
 * Computes again what sweeps left in these inboxes, after transfers out of them were observed or reverted. Most leave
 * nothing, and no row.
 */
export async function refreshRemainders(tx: Tx, inboxes: readonly HoldingKey[]): Promise<void> {
  if (inboxes.length === 0) return;
  await sql`
    insert into holding (intent_id, chain, token, rest_block, rest_place, rest_since, rest_units)
    select asked.intent_id, asked.chain, asked.token, rest.block_number, rest.place, rest.seen_at, coalesce(rest.units, 0)
    from (select distinct intent_id, chain, token from ${unnest("named", inboxes, KEY_COLUMNS)}) as asked
    left join lateral (${lastRemainderOf(sql`asked`)}) as rest on true
    where rest.units > 0 or exists (
      select from holding where holding.intent_id = asked.intent_id and holding.chain = asked.chain
        and holding.token = asked.token and holding.rest_block is not null)
    order by asked.intent_id, asked.chain, asked.token
    on conflict (intent_id, chain, token) do update set
      rest_block = excluded.rest_block, rest_place = excluded.rest_place, rest_since = excluded.rest_since,
      rest_units = excluded.rest_units, rest_counted_units = least(holding.rest_counted_units, excluded.rest_units)
    where (holding.rest_block, holding.rest_place, holding.rest_units)
      is distinct from (excluded.rest_block, excluded.rest_place, excluded.rest_units)`.execute(tx);
}

/**
 * Computes rests again where these changed arrivals precede a sweep that the settlement station has observed: one was
 * found late, or is gone. Returns the intents concerned. Later sweeps are not read here, so a flood that was recorded
 * together with a sweep is not added up once a batch: the station computes the rest when it observes the sweep.
 */
export async function refreshRemaindersAfter(tx: Tx, arrivals: readonly MovementRow[]): Promise<string[]> {
  if (arrivals.length === 0) return [];
  const names = arrivals.map(({ intent_id, chain, token, block_number }) => ({
    intent_id,
    chain,
    token,
    block_number,
  }));
  const { rows } = await sql<HoldingKey>`
    select changed.intent_id, changed.chain, changed.token
    from (
      select intent_id, chain, token, min(block_number) as block_number
      from ${unnest("named", names, { ...KEY_COLUMNS, block_number: "int8" })} group by intent_id, chain, token
    ) as changed where (
      select departure.revision from movement departure
      where departure.intent_id = changed.intent_id and departure.chain = changed.chain and departure.token = changed.token
        and departure.direction = 'out' and departure.orphaned_at is null and departure.block_number >= changed.block_number
      order by departure.block_number, departure.place limit 1
    ) <= (select revision from settlement_cursor where settlement_cursor.chain = changed.chain)`.execute(tx);
  await refreshRemainders(tx, rows);
  return rows.map(({ intent_id }) => intent_id);
}
