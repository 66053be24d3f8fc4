import type { Caip2 } from "../../../kernel/caip.ts";
import type { World } from "../../../world.ts";
import type { CheckoutState } from "@tributary/checkout/checkoutState";
import { readStates, type ReadState } from "../state/readState.ts";
import { ChangeReader } from "./changeReader.ts";

type FeedWorld = Pick<World, "db" | "memory" | "clock" | "catalog" | "config" | "log">;

export type StateListener = {
  onState(state: CheckoutState): void;
  /** Called every ten seconds, while the database answers. */
  onBeat(): void;
  onClose(): void;
};

const ROUND_MS = 100;
/** In rounds. */
const BEAT_ROUNDS = 100;
const HEAD_ROUNDS = 10;
/** Each page is read again after so many rounds, whatever has happened: changed looks write no event. */
const REFRESH_ROUNDS = 150;
/**
 * Pages that one round reads for a block or for their age. Others wait for the next rounds, so that no round holds up
 * requests.
 */
const QUIET_READS_MAX = 20;
const READ_BATCH_MAX = 20;
const RETRY_MS = 1_000;

type Watched = {
  /** The version that each has. */
  listeners: Map<StateListener, string | undefined>;
  /** The chains whose next blocks change the state, with the block at the last read. */
  pendingHeads: ReadonlyMap<Caip2, bigint | undefined>;
  /** Undefined: it has to be read. The first read comes after the subscription, so it misses no event. */
  readAtRound: number | undefined;
  /** The beats of all pages are spread over the rounds. */
  beatRound: number;
};

/**
 * One reader for all pages that this process keeps open. It looks for committed events and transfers ten times a
 * second, in one statement whatever the number of pages, and reads the states of those alone that changed. So any
 * process finds what any other has written, and an open page that nothing happens to costs next to nothing.
 */
export class StateFeed {
  readonly #world: FeedWorld;
  readonly #changes: ChangeReader;
  readonly #watched = new Map<string, Watched>();
  #running: AbortController | undefined;
  #round = 0;
  #subscriptions = 0;

  constructor(world: FeedWorld) {
    this.#world = world;
    this.#changes = new ChangeReader(world.db);
  }

  /**
   * Reports the state of an intent within a tenth of a second, unless it has the version `known`, and then each new
   * one. Returns the end.
   */
  subscribe(intentId: string, known: string | undefined, listener: StateListener): () => void {
    this.#subscriptions += 1;
    const beatRound = this.#subscriptions % BEAT_ROUNDS;
    const fresh: Watched = { listeners: new Map(), pendingHeads: new Map(), readAtRound: undefined, beatRound };
    const entry = this.#watched.get(intentId) ?? fresh;
    this.#watched.set(intentId, entry);
    entry.listeners.set(listener, known);
    entry.readAtRound = undefined;
    if (this.#running === undefined || this.#running.signal.aborted) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
    return () => {
      entry.listeners.delete(listener);
      if (entry.listeners.size === 0 && this.#watched.get(intentId) === entry) this.#watched.delete(intentId);
      if (this.#watched.size === 0) this.#running?.abort();
    };
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#running?.abort();
    for (const { listeners } of this.#watched.values()) for (const listener of listeners.keys()) listener.onClose();
    this.#watched.clear();
  }

  async #run(ending: AbortSignal): Promise<void> {
    const { clock, log } = this.#world;
    this.#changes.reset();
    while (!ending.aborted) {
      try {
        await this.#runRound();
        await clock.sleep(ROUND_MS, ending);
      } catch (error) {
        log.warn(
          { err: error, pages: this.#watched.size },
          "reading the states of open checkout pages failed, retrying",
        );
        await clock.sleep(RETRY_MS, ending);
      }
    }
  }

  async #runRound(): Promise<void> {
    this.#round += 1;
    const changed = await this.#changes.read();
    // Marked before the reads, so that a read which fails is repeated.
    for (const [intentId, entry] of this.#watched)
      if (changed === undefined || changed.has(intentId)) entry.readAtRound = undefined;
    for (const entry of this.#listDue()) entry.readAtRound = undefined;
    const unread = [...this.#watched].filter(([, { readAtRound }]) => readAtRound === undefined);
    await this.#refresh(unread.map(([intentId]) => intentId));
    for (const { beatRound, listeners } of this.#watched.values())
      if (this.#round % BEAT_ROUNDS === beatRound) for (const listener of listeners.keys()) listener.onBeat();
  }

  /**
   * Pages to be read for a block or for their age: the ones that were read longest ago, so that none waits permanently.
   */
  #listDue(): Watched[] {
    const due = [...this.#watched.values()].filter((entry) => this.#isNextBlockDue(entry) || this.#isStale(entry));
    const age = ({ readAtRound = this.#round }: Watched) => this.#round - readAtRound;
    return due.toSorted((one, other) => age(other) - age(one)).slice(0, QUIET_READS_MAX);
  }

  /** A new block adds a confirmation. Chains with many blocks a second show one of them each second. */
  #isNextBlockDue({ pendingHeads, readAtRound = this.#round }: Watched): boolean {
    if (pendingHeads.size === 0 || this.#round - readAtRound < HEAD_ROUNDS) return false;
    return [...pendingHeads].some(([chain, number]) => this.#changes.heads.get(chain) !== number);
  }

  #isStale({ readAtRound = this.#round }: Watched): boolean {
    return this.#round - readAtRound >= REFRESH_ROUNDS;
  }

  async #refresh(intentIds: readonly string[]): Promise<void> {
    for (let start = 0; start < intentIds.length; start += READ_BATCH_MAX) {
      const reads = await readStates(this.#world, intentIds.slice(start, start + READ_BATCH_MAX));
      for (const read of reads) this.#report(read);
    }
  }

  #report({ state, pendingChains }: ReadState): void {
    const entry = this.#watched.get(state.intentId);
    if (entry === undefined) return;
    entry.pendingHeads = new Map([...pendingChains].map((chain) => [chain, this.#changes.heads.get(chain)]));
    entry.readAtRound = this.#round;
    for (const [listener, version] of entry.listeners) {
      if (version === state.version) continue;
      entry.listeners.set(listener, state.version);
      listener.onState(state);
    }
  }
}
