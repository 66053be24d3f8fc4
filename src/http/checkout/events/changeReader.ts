import { CompiledQuery } from "kysely";
import type { Db } from "../../../db/database.ts";
import type { Caip2 } from "../../../kernel/caip.ts";
import { EventCursor, type EventPosition } from "./eventCursor.ts";

type Change =
  | { kind: "event"; position: bigint; intentId: string | null; eventId: string }
  | { kind: "newest"; position: bigint; eventId: string | null }
  | { kind: "anchor"; eventId: string }
  | { kind: "transfer"; intentId: string }
  | { kind: "head"; chain: Caip2; position: bigint }
  | { kind: "handover"; chain: Caip2; position: bigint; movementId: bigint };

/** Transfers that one round reads on each chain. Pages of further ones wait for their next regular read. */
const TRANSFERS_MAX = 500;

/**
 * Without a position it returns no event and only the newest position; without the handover of a chain, no transfer on
 * it. A transfer below the minimum writes no event, so the transfers are read that the deposit station has taken since.
 * The event at the position itself shows whether the database is still the one that was read before.
 */
const READ_CHANGES = `/* shared: read_checkout_changes */
  select * from (
    select 'event' as kind, event.position, (select id from intent where intent.seq = event.intent_number) as "intentId", null::text as chain, null::int8 as "movementId",
      encode(event.id, 'hex') as "eventId" from event
    where event.position > coalesce($1::int8, (select max(position) from event), 0) order by event.position limit 2000) as recent
  union all
  select 'event', event.position, (select id from intent where intent.seq = event.intent_number), null, null, encode(event.id, 'hex')
  from event where event.position = any($2::int8[])
  union all
  select 'anchor', event.position, null, null, null, encode(event.id, 'hex') from event where event.position = $1::int8
  union all
  select 'head', number, null, chain, null, null from chain_cursor
  union all
  select 'handover', revision, null, chain, movement_id, null from deposit_cursor
  union all
  select 'transfer', null, taken.intent_id, null, null, null
  from unnest($3::text[], $4::int8[], $5::int8[]) as known (chain, revision, movement_id)
  join deposit_cursor taken_to on taken_to.chain = known.chain
    and (taken_to.revision, taken_to.movement_id) > (known.revision, known.movement_id)
  cross join lateral (
    select movement.intent_id from movement
    where (movement.chain || ' ' || movement.direction) = known.chain || ' in'
      and (movement.revision, movement.id) > (known.revision, known.movement_id)
      and (movement.revision, movement.id) <= (taken_to.revision, taken_to.movement_id)
    order by movement.chain || ' ' || movement.direction, movement.revision, movement.id limit ${TRANSFERS_MAX}) as taken
  union all
  select 'newest', coalesce(newest.position, 0), null, null, null, encode(newest.id, 'hex')
  from (select 0) as always left join (select position, id from event order by position desc limit 1) as newest on true`;

/** The last transfer that the deposit station had taken on a chain. */
type Handover = { revision: bigint; movementId: bigint };

/** Finds the intents with new events or transfers, and the last block of each chain, in one statement. */
export class ChangeReader {
  readonly #db: Db;
  readonly #cursor = new EventCursor();
  /** The last block that the watcher has read on each chain. */
  readonly heads = new Map<Caip2, bigint>();
  readonly #handovers = new Map<Caip2, Handover>();

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Returns the intents with changes since the last read; none at the first one. Undefined after a failover or a
   * restore that lost what was read before: any intent may have changed then, and positions are used again, so that
   * this read begins anew.
   */
  async read(): Promise<ReadonlySet<string> | undefined> {
    const changes = await this.#query();
    if (!this.#isRewound(changes)) return this.#advance(changes);
    this.reset();
    this.#advance(await this.#query());
    return undefined;
  }

  async #query(): Promise<readonly Change[]> {
    const handovers = [...this.#handovers];
    const known = [
      handovers.map(([chain]) => chain),
      handovers.map(([, { revision }]) => revision),
      handovers.map(([, { movementId }]) => movementId),
    ];
    const parameters = [this.#cursor.last ?? null, this.#cursor.missing(), ...known];
    return (await this.#db.root.executeQuery<Change>(CompiledQuery.raw(READ_CHANGES, parameters))).rows;
  }

  #isRewound(changes: readonly Change[]): boolean {
    const anchor = changes.find((change) => change.kind === "anchor");
    if (this.#cursor.last !== undefined && (anchor?.eventId ?? null) !== this.#cursor.lastId) return true;
    return changes.some((change) => {
      const known = change.kind === "handover" ? this.#handovers.get(change.chain) : undefined;
      return known !== undefined && change.kind === "handover" && isBefore(change, known);
    });
  }

  #advance(changes: readonly Change[]): ReadonlySet<string> {
    const intentIds = new Set<string>();
    const events: EventPosition[] = [];
    let newest: EventPosition = { position: 0n, eventId: null };
    for (const change of changes) {
      if (change.kind === "newest") newest = change;
      else if (change.kind === "head") this.heads.set(change.chain, change.position);
      else if (change.kind === "handover")
        this.#handovers.set(change.chain, { revision: change.position, movementId: change.movementId });
      else if (change.kind === "event") events.push(change);
      if ((change.kind === "event" || change.kind === "transfer") && change.intentId !== null)
        intentIds.add(change.intentId);
    }
    this.#cursor.advance(events, newest);
    return intentIds;
  }

  /** The next read begins at the newest event and transfer. */
  reset(): void {
    this.#cursor.reset();
    this.#handovers.clear();
  }
}

function isBefore({ position, movementId }: { position: bigint; movementId: bigint }, known: Handover): boolean {
  return position < known.revision || (position === known.revision && movementId < known.movementId);
}
