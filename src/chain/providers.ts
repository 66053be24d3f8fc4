import type { Logger } from "pino";
import type { Caip2 } from "../kernel/caip.ts";
import { backoffMs, type Timer } from "../kernel/clock.ts";
import { warnRepeated, type RepeatedWarning } from "../kernel/alarm/repeatedWarning.ts";
import { checkedReader } from "./checkedReader.ts";
import {
  ChainRefused,
  ProviderFailed,
  readFinalHeads,
  type BlockRef,
  type ChainIdentity,
  type ChainReader,
  type FinalHeads,
  type HeadTag,
  type Holdings,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "./reader.ts";
import { SkippedEntries, skippedKeys, type UnreadableHandler } from "./unreadable/unreadableEntry.ts";

/** Cooldown after a failure; it doubles with each further failure in a row. */
const COOLDOWN = { firstMs: 1_000, maxMs: 60_000 };
/** Limit for a Retry-After, so that one absurd value cannot disable a provider. */
const RETRY_AFTER_MS_MAX = 3_600_000;
/**
 * A rate-limited provider gets no requests for at most this long, even when it is the only one: requests would extend
 * the limit.
 */
const RATE_LIMITED_MS_MAX = 60_000;
/** Readings of one request after the first, each without what the one before it could not parse. */
const REPEATS_MAX = 4;
/** A URL can point at another chain while the service runs. */
const IDENTITY_TTL_MS = 3_600_000;

/** The provider serves another chain than the configured one. Only an operator can correct that; retries cannot. */
export class ChainMismatch extends Error {
  override readonly name = "ChainMismatch";
}

/**
 * One provider's reply to a request that went to several; `error` is a ProviderFailed, ChainMismatch or ChainRefused.
 */
export type ProviderReply<T> = { provider: string; answer: T } | { provider: string; error: Error };

/** What one provider has answered. */
export type ToldHeads = { provider: string; heads: FinalHeads };

export type ProviderSlot<Reader extends ChainReader> = {
  readonly reader: Reader;
  failures: number;
  cooldownUntilMs: number;
  /** End of the rate limit, on the monotonic clock; no requests before it. */
  rateLimitedUntilMs: number;
  /** When its identity was last verified, on the monotonic clock. */
  verifiedAtMs: number | undefined;
};

/**
 * The providers of one chain behind one reader. Each is verified to serve this chain before its first request. The
 * first answer in order of preference counts; only finality needs several. Chain kinds whose sender needs more extend
 * this class.
 */
export class Providers<Reader extends ChainReader = ChainReader> implements ChainReader {
  readonly caip2: Caip2;
  readonly name: string;
  /** Failures of each provider since the start, by name. */
  readonly failureCounts = new Map<string, number>();
  /** Present where every provider has it. */
  readonly holdings?: (token: string, owners: readonly string[]) => Promise<Holdings>;
  /** What readings leave out, because the station that reads the chain has a row for it. */
  readonly skipped: SkippedEntries;
  readonly #slots: readonly ProviderSlot<Reader>[];
  #handleUnreadable: UnreadableHandler | undefined;
  readonly #clock: Timer;
  readonly #log: Logger;
  #genesisHash: string | undefined;

  /** `readers`: in order of preference, at least one, all of the same chain. */
  constructor(readers: readonly [Reader, ...Reader[]], world: { clock: Timer; log: Logger }) {
    this.caip2 = readers[0].caip2;
    this.name = readers.map((reader) => reader.name).join(", ");
    const skipped = new SkippedEntries(world.clock);
    this.skipped = skipped;
    this.#slots = readers.map((reader) => ({
      reader: checkedReader(reader, { skipped }),
      failures: 0,
      cooldownUntilMs: 0,
      rateLimitedUntilMs: 0,
      verifiedAtMs: undefined,
    }));
    this.#clock = world.clock;
    this.#log = world.log;
    if (readers.every((reader) => reader.holdings !== undefined))
      this.holdings = (token, owners) => this.run((reader) => readHoldings(reader, token, owners));
  }

  /**
   * Runs `work` with one provider, and with the next one when it fails. Throws the last error when none is left. All
   * requests of `work` go to the same provider, so its answers are consistent. Throws `range_too_large` and
   * ChainRefused at once, because they are answers.
   */
  async run<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#runInOrder(this.slotsByPreference(), work);
  }

  /**
   * Like `run`, in reverse order, so that a second read uses another provider where one is available. Providers in
   * cooldown come last here too.
   */
  async runLastFirst<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const preferred = this.slotsByPreference();
    const available = new Set(this.availableSlots());
    const others = preferred.filter((slot) => available.has(slot)).toReversed();
    return this.#runInOrder([...others, ...preferred.filter((slot) => !available.has(slot))], work);
  }

  /**
   * Runs `work` with each provider and returns every reply; `available` skips those in cooldown. Providers with the same
   * name share a host and give one reply. Never throws for a provider's fault.
   */
  async runAll<T>(
    work: (reader: Reader) => Promise<T>,
    scope: "all" | "available" = "all",
  ): Promise<ProviderReply<T>[]> {
    const slots = scope === "all" ? this.slotsByPreference() : this.availableSlots();
    const groups = Map.groupBy(slots, (slot) => slot.reader.name);
    return Promise.all(
      [...groups].map(async ([provider, slots]): Promise<ProviderReply<T>> => {
        try {
          return { provider, answer: await this.#runInOrder(slots, work) };
        } catch (error) {
          if (error instanceof ChainRefused || error instanceof ProviderFailed || error instanceof ChainMismatch)
            return { provider, error };
          throw error;
        }
      }),
    );
  }

  /** Sets who decides whether readings may leave out what nobody can parse. Without one such a reading fails. */
  onUnreadable(handler: UnreadableHandler): void {
    this.#handleUnreadable = handler;
  }

  /** The number of providers; those with the same name count once. */
  get providerCount(): number {
    return new Set(this.#slots.map((slot) => slot.reader.name)).size;
  }

  /** Runs `work` with the provider of this name. */
  async runWith<T>(provider: string, work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#runInOrder(
      this.slotsByPreference().filter((slot) => slot.reader.name === provider),
      work,
    );
  }

  /** Starts a cooldown for a provider that the others contradict, so that the next requests go to them. */
  coolDown(provider: string, durationMs: number): void {
    const untilMs = this.#clock.monotonicMs() + durationMs;
    for (const slot of this.#slots) {
      if (slot.reader.name === provider) slot.cooldownUntilMs = Math.max(slot.cooldownUntilMs, untilMs);
    }
  }

  /** Verifies every reachable provider. Throws ChainMismatch when one serves another chain. */
  async verify(): Promise<void> {
    const checks = await Promise.allSettled(this.#slots.map((slot) => this.#identify(slot)));
    for (const check of checks) {
      if (check.status === "fulfilled") continue;
      if (!(check.reason instanceof ProviderFailed)) throw check.reason;
      const { message } = check.reason;
      this.warn({
        key: `start ${message}`,
        fields: { err: check.reason },
        message: "a provider did not answer at start",
      });
    }
  }

  /** Logs a warning about this chain, ever less often while it repeats. */
  warn({ key, fields, message }: RepeatedWarning): void {
    const warning = { key: `${this.caip2} ${key}`, fields: { chain: this.caip2, ...fields }, message };
    warnRepeated({ log: this.#log, clock: this.#clock }, warning);
  }

  /** The first block's hash by the providers that were verified so far; undefined while each of them has pruned it. */
  async identify(): Promise<ChainIdentity> {
    return { caip2: this.caip2, genesisHash: await this.run(async () => this.#genesisHash) };
  }

  /**
   * `latest` comes from the preferred provider. `safe` and `finalized` need two available providers: the second highest
   * answer counts, so one provider can neither raise nor delay finality.
   */
  async head(tag: HeadTag): Promise<BlockRef> {
    if (tag === "latest") return this.run((reader) => reader.head(tag));
    const replies = await this.runAll((reader) => reader.head(tag), "available");
    const heads = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const head = secondHighest(heads);
    if (!head) throw replies.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return head;
  }

  /**
   * The final heads by the rule of `head`, with one request to each available provider. `told`: what one of them has
   * answered already. Undefined where none has such a block.
   */
  async finalHeads(told?: ToldHeads): Promise<FinalHeads> {
    const replies = await this.runAll(
      async (reader): Promise<FinalHeads> => (reader.name === told?.provider ? told.heads : readFinalHeads(reader)),
      "available",
    );
    const heads = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    return {
      safe: secondHighest(heads.flatMap(({ safe }) => safe ?? [])),
      finalized: secondHighest(heads.flatMap(({ finalized }) => finalized ?? [])),
    };
  }

  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    return this.run((reader) => reader.block(at));
  }

  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return this.run((reader) => reader.transfers(scope, tokens, parties));
  }

  proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return this.run((reader) => reader.proofs(chainTxs));
  }

  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    return this.run((reader) => reader.balances(token, owners, at));
  }

  tokenDecimals(token: string): Promise<number | undefined> {
    return this.run((reader) => reader.tokenDecimals(token));
  }

  tokenSymbol(token: string): Promise<string | undefined> {
    return this.run(async (reader) => reader.tokenSymbol?.(token));
  }

  /**
   * What every provider answers alike and nobody can parse must not stop what stands beside it, so the request is
   * repeated without it.
   */
  async #runInOrder<T>(slots: readonly ProviderSlot<Reader>[], work: (reader: Reader) => Promise<T>): Promise<T> {
    const leftOut = new Set<string>();
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.#tryInOrder(slots, work);
      } catch (error) {
        const unreadable = error instanceof ProviderFailed ? error.unreadable : [];
        // What the request needs itself cannot be left out.
        const keys = unreadable.flatMap(skippedKeys);
        if (repeats === REPEATS_MAX || keys.every((key) => leftOut.has(key))) throw error;
        if ((await this.#handleUnreadable?.(unreadable)) !== true) throw error;
        for (const key of keys) leftOut.add(key);
      }
    }
  }

  async #tryInOrder<T>(slots: readonly ProviderSlot<Reader>[], work: (reader: Reader) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const slot of slots) {
      try {
        return await this.runSlot(slot, work);
      } catch (error) {
        if (!allowsFailover(error)) throw error;
        // A mismatch is reported only when no other provider failed for a temporary reason. What cannot be parsed may
        // be left out.
        if (failure === undefined || failure instanceof ChainMismatch || isUnreadable(error)) failure = error;
      }
    }
    throw failure;
  }

  protected async runSlot<T>(slot: ProviderSlot<Reader>, work: (reader: Reader) => Promise<T>): Promise<T> {
    const rateLimitedMs = slot.rateLimitedUntilMs - this.#clock.monotonicMs();
    if (rateLimitedMs > 0)
      throw new ProviderFailed(
        "rate_limited",
        `${slot.reader.name} accepts no requests for another ${Math.ceil(rateLimitedMs)} ms`,
      );
    try {
      await this.#identify(slot);
      const answer = await work(slot.reader);
      slot.failures = 0;
      return answer;
    } catch (error) {
      if (isProviderFault(error)) this.#startCooldown(slot, error);
      throw error;
    }
  }

  async #identify(slot: ProviderSlot<Reader>): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (slot.verifiedAtMs !== undefined && nowMs - slot.verifiedAtMs < IDENTITY_TTL_MS) return;
    const { reader } = slot;
    const { caip2, genesisHash } = await reader.identify();
    if (caip2 !== this.caip2) {
      throw new ChainMismatch(`${reader.name} is configured as a provider of ${this.caip2} but serves ${caip2}.`);
    }
    this.#genesisHash ??= genesisHash;
    if (genesisHash !== undefined && genesisHash !== this.#genesisHash) {
      throw new ChainMismatch(
        `${reader.name} serves a chain ${caip2} with genesis block ${genesisHash}; the other providers have ${this.#genesisHash}.`,
      );
    }
    slot.verifiedAtMs = nowMs;
  }

  #startCooldown(slot: ProviderSlot<Reader>, error: unknown): void {
    const retryAfterMs = error instanceof ProviderFailed ? (error.retryAfterMs ?? 0) : 0;
    const cooldownMs = Math.max(backoffMs(slot.failures, COOLDOWN), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
    const nowMs = this.#clock.monotonicMs();
    slot.failures += 1;
    this.failureCounts.set(slot.reader.name, (this.failureCounts.get(slot.reader.name) ?? 0) + 1);
    slot.cooldownUntilMs = Math.max(slot.cooldownUntilMs, nowMs + cooldownMs);
    slot.rateLimitedUntilMs = Math.max(slot.rateLimitedUntilMs, nowMs + Math.min(retryAfterMs, RATE_LIMITED_MS_MAX));
    if (this.#slots.length === 1) return;
    warnRepeated(
      { log: this.#log, clock: this.#clock },
      {
        key: `cooldown ${this.caip2} ${slot.reader.name} ${error instanceof ProviderFailed ? error.kind : ""}`,
        fields: { chain: this.caip2, provider: slot.reader.name, cooldownMs, err: error },
        message: "a provider failed; cooldown started",
      },
    );
  }

  /** Providers outside cooldown; all of them when every one is in cooldown. */
  protected availableSlots(): ProviderSlot<Reader>[] {
    const nowMs = this.#clock.monotonicMs();
    const available = this.#slots.filter((slot) => slot.cooldownUntilMs <= nowMs);
    return available.length === 0 ? this.slotsByPreference() : available;
  }

  /**
   * Providers in cooldown come last, the earliest end first: when all are in cooldown, a failing one is better than
   * none.
   */
  protected slotsByPreference(): ProviderSlot<Reader>[] {
    const nowMs = this.#clock.monotonicMs();
    const cooldownEnd = (slot: ProviderSlot<Reader>) => (slot.cooldownUntilMs > nowMs ? slot.cooldownUntilMs : 0);
    return this.#slots.toSorted((one, other) => cooldownEnd(one) - cooldownEnd(other));
  }
}

/** The second highest, or the only one. */
function secondHighest(heads: readonly BlockRef[]): BlockRef | undefined {
  const [first, second] = heads.toSorted((one, other) => (one.number > other.number ? -1 : 1));
  return second ?? first;
}

async function readHoldings(reader: ChainReader, token: string, owners: readonly string[]): Promise<Holdings> {
  if (!reader.holdings) throw new TypeError(`${reader.name} has no holdings`);
  return reader.holdings(token, owners);
}

function isProviderFault(error: unknown): boolean {
  if (error instanceof ChainMismatch) return true;
  // A range that is too large, a block that is not there yet, and what nobody can parse are answers.
  return error instanceof ProviderFailed && !["range_too_large", "unknown_block", "unreadable"].includes(error.kind);
}

function isUnreadable(error: unknown): boolean {
  return error instanceof ProviderFailed && error.kind === "unreadable";
}

function allowsFailover(error: unknown): boolean {
  if (error instanceof ChainMismatch) return true;
  return error instanceof ProviderFailed && error.kind !== "range_too_large";
}
