import { CompiledQuery } from "kysely";
import type { Db } from "../../../db/database.ts";
import type { Caip2 } from "../../../kernel/caip.ts";
import type { World } from "../../../world.ts";
import type { CheckoutState } from "../checkoutState.ts";
import { readStates, type ReadState } from "../state/readState.ts";
import { EventCursor } from "./eventCursor.ts";

// One reader for all pages that this process keeps open. It looks for committed events ten times a second, in one statement whatever the
// number of pages, and reads the states of those alone that changed. So any process finds what any other has written, and the cost of an
// open page that nothing happens to is close to nothing.

type FeedWorld = Pick<World, "db" | "clock" | "catalog" | "config" | "log">;

export type StateListener = {
  onState(state: CheckoutState): void;
  /** Called every ten seconds, while the database answers. */
  onBeat(): void;
  onClose(): void;
};

export type StateFeed = {
  /** Reports the state of an intent within a tenth of a second, unless it has the version `known`, and then each new one. Returns the end. */
  subscribe(intentId: string, known: string | undefined, listener: StateListener): () => void;
  /** Ends all subscriptions. */
  close(): void;
};

const ROUND_MS = 100;
/** In rounds. */
const BEAT_ROUNDS = 100;
const HEAD_ROUNDS = 10;
/** Each page is read again after so many rounds, whatever has happened: dust and changed looks write no event. */
const REFRESH_ROUNDS = 150;
const STALE_READS_MAX = 20;
const READ_BATCH_MAX = 100;
const RETRY_MS = 1_000;

type Watched = {
  /** The version that each has. */
  listeners: Map<StateListener, string | undefined>;
  /** The chains whose next blocks change the state, with the block at the last read. */
  pendingHeads: ReadonlyMap<Caip2, bigint | undefined>;
  /** Undefined: one of the listeners is new, and waits for the first read. It comes after the subscription, so it misses no event. */
  readAtRound: number | undefined;
};

export function createStateFeed(world: FeedWorld): StateFeed {
  const watched = new Map<string, Watched>();
  const cursor = new EventCursor();
  const heads = new Map<Caip2, bigint>();
  let running: AbortController | undefined;
  let round = 0;

  function subscribe(intentId: string, known: string | undefined, listener: StateListener): () => void {
    const entry: Watched = watched.get(intentId) ?? {
      listeners: new Map(),
      pendingHeads: new Map(),
      readAtRound: undefined,
    };
    watched.set(intentId, entry);
    entry.listeners.set(listener, known);
    entry.readAtRound = undefined;
    start();
    return () => {
      entry.listeners.delete(listener);
      if (entry.listeners.size === 0 && watched.get(intentId) === entry) watched.delete(intentId);
      if (watched.size === 0) running?.abort();
    };
  }

  function start(): void {
    if (running !== undefined && !running.signal.aborted) return;
    running = new AbortController();
    void run(running.signal);
  }

  async function run(ending: AbortSignal): Promise<void> {
    cursor.reset();
    while (!ending.aborted) {
      try {
        await runRound();
        await world.clock.sleep(ROUND_MS, ending);
      } catch (error) {
        world.log.warn(
          { err: error, pages: watched.size },
          "reading the states of open checkout pages failed, retrying",
        );
        await world.clock.sleep(RETRY_MS, ending);
      }
    }
  }

  async function runRound(): Promise<void> {
    round += 1;
    const intentIds = await readChanges(world.db, { cursor, heads });
    // Marked before the reads, so that a read which fails is repeated.
    for (const [intentId, entry] of watched)
      if (intentIds.has(intentId) || isNextBlockDue(entry)) entry.readAtRound = undefined;
    for (const entry of listStale()) entry.readAtRound = undefined;
    await refresh([...watched].flatMap(([intentId, { readAtRound }]) => (readAtRound === undefined ? [intentId] : [])));
    if (round % BEAT_ROUNDS !== 0) return;
    for (const { listeners } of watched.values()) for (const each of listeners.keys()) each.onBeat();
  }

  /** A new block adds a confirmation. Chains with many blocks a second show one of them each second. */
  function isNextBlockDue({ pendingHeads, readAtRound = round }: Watched): boolean {
    if (pendingHeads.size === 0 || round - readAtRound < HEAD_ROUNDS) return false;
    return [...pendingHeads].some(([chain, number]) => heads.get(chain) !== number);
  }

  /** Pages that were not read for long; a few in each round. */
  function listStale(): Watched[] {
    const old = [...watched.values()].filter(({ readAtRound = round }) => round - readAtRound >= REFRESH_ROUNDS);
    return old.slice(0, STALE_READS_MAX);
  }

  async function refresh(intentIds: readonly string[]): Promise<void> {
    for (let start = 0; start < intentIds.length; start += READ_BATCH_MAX) {
      const reads = await readStates(world, intentIds.slice(start, start + READ_BATCH_MAX));
      for (const read of reads) report(read);
    }
  }

  function report({ state, pendingChains }: ReadState): void {
    const entry = watched.get(state.intentId);
    if (entry === undefined) return;
    entry.pendingHeads = new Map([...pendingChains].map((chain) => [chain, heads.get(chain)]));
    entry.readAtRound = round;
    for (const [listener, version] of entry.listeners) {
      if (version === state.version) continue;
      entry.listeners.set(listener, state.version);
      listener.onState(state);
    }
  }

  function close(): void {
    running?.abort();
    for (const { listeners } of watched.values()) for (const listener of listeners.keys()) listener.onClose();
    watched.clear();
  }

  return { subscribe, close };
}

type Change = { position: bigint | null; intentId: string | null; chain: Caip2 | null; number: bigint | null };

/** Without a position it returns no event and only the newest position: every page is read after that. */
const READ_CHANGES = `/* shared: read_checkout_changes */
  select * from (
    select event.position, event.intent_id as "intentId", null::text as chain, null::int8 as number from event
    where event.position > coalesce($1::int8, (select max(position) from event), 0) order by event.position limit 2000) as recent
  union all
  select event.position, event.intent_id, null, null from event where event.position = any($2::int8[])
  union all
  select null, null, chain, number from chain_cursor
  union all
  select coalesce((select max(position) from event), 0), null, '', null`;

/** Returns the intents with new events, and keeps cursor and heads up to date. */
async function readChanges(
  db: Db,
  { cursor, heads }: { cursor: EventCursor; heads: Map<Caip2, bigint> },
): Promise<ReadonlySet<string>> {
  const query = CompiledQuery.raw(READ_CHANGES, [cursor.last ?? null, cursor.missing()]);
  const { rows } = await db.root.executeQuery<Change>(query);
  const intentIds = new Set<string>();
  const positions: bigint[] = [];
  let newest = 0n;
  for (const { position, intentId, chain, number } of rows) {
    if (position !== null && chain !== null) newest = position;
    else if (chain !== null && number !== null) heads.set(chain, number);
    else if (position !== null) {
      positions.push(position);
      if (intentId !== null) intentIds.add(intentId);
    }
  }
  cursor.advance(positions, newest);
  return intentIds;
}
