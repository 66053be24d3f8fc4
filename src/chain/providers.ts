import type { Logger } from "pino";
import type { Caip2 } from "../kernel/caip.ts";
import type { Clock } from "../kernel/clock.ts";
import {
  ChainRefused,
  ProviderFailed,
  type BlockRef,
  type ChainIdentity,
  type ChainReader,
  type HeadTag,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "./reader.ts";

/** A provider that failed rests this long, twice as long after each further failure in a row. */
const COOLDOWN_MS_MIN = 1_000;
const COOLDOWN_MS_MAX = 60_000;
/** One that says how long to leave it alone rests as long, but not for ever by a number too many. */
const RETRY_AFTER_MS_MAX = 3_600_000;
/** For so long it is not asked at all, also where nobody else is left: asking would only lengthen its silence. */
const RATE_LIMITED_MS_MAX = 60_000;
/** A URL can be pointed at another chain while we run. */
const IDENTITY_TTL_MS = 3_600_000;

/** What is configured and what is there are two different chains. Only a person can put that right; asking again cannot. */
export class ChainMismatch extends Error {
  override readonly name = "ChainMismatch";
}

/** What one provider said when each was asked the same; `error` is a ProviderFailed, ChainMismatch or ChainRefused. */
export type ProviderReply<T> = { provider: string; answer: T } | { provider: string; error: Error };

export type ProviderSlot<Reader extends ChainReader> = {
  readonly reader: Reader;
  failures: number;
  cooldownUntilMs: number;
  /** Until when it wants not to be asked anything. */
  rateLimitedUntilMs: number;
  /** When its identity was last found right, on the monotonic clock. */
  verifiedAtMs: number | undefined;
};

/**
 * The providers of one chain, used as one. Each is known to serve this chain before it is asked anything. The first that
 * answers is believed, in order of preference; only finality takes several. A kind whose sender needs more of its providers extends this class.
 */
export class Providers<Reader extends ChainReader = ChainReader> implements ChainReader {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #slots: readonly ProviderSlot<Reader>[];
  readonly #clock: Clock;
  readonly #log: Logger;
  #genesisHash: string | undefined;

  /** `readers` in order of preference, at least one, all of the same chain. */
  constructor(readers: readonly [Reader, ...Reader[]], world: { clock: Clock; log: Logger }) {
    this.caip2 = readers[0].caip2;
    this.name = readers.map((reader) => reader.name).join(", ");
    this.#slots = readers.map((reader) => ({
      reader,
      failures: 0,
      cooldownUntilMs: 0,
      rateLimitedUntilMs: 0,
      verifiedAtMs: undefined,
    }));
    this.#clock = world.clock;
    this.#log = world.log;
  }

  /**
   * Asks one provider, the next when it fails, and throws the last one's error when none is left. All questions of `work` go to the same
   * provider, so that its answers belong together. `range_too_large` and ChainRefused are answers: they are thrown at once.
   */
  async ask<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#askInOrder(this.slotsByPreference(), work);
  }

  /**
   * Like `ask`, in the opposite order: what is read a second time is read from somebody else, where somebody else is awake. One that rests
   * has failed or was outvoted, and comes last here as well.
   */
  async askInReverseOrder<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const preferred = this.slotsByPreference();
    const available = new Set(this.availableSlots());
    const others = preferred.filter((slot) => available.has(slot)).toReversed();
    return this.#askInOrder([...others, ...preferred.filter((slot) => !available.has(slot))], work);
  }

  /**
   * Asks each provider, those that rest only when `all` are wanted, and tells who said what. Several of one name are one provider, which is heard once: they are
   * the same host, and one who lies there lies on all of them. Throws for nothing that is a provider's fault.
   */
  async askEach<T>(work: (reader: Reader) => Promise<T>, scope: "all" | "awake" = "all"): Promise<ProviderReply<T>[]> {
    const slots = scope === "all" ? this.slotsByPreference() : this.availableSlots();
    const groups = Map.groupBy(slots, (slot) => slot.reader.name);
    return Promise.all(
      [...groups].map(async ([provider, slots]): Promise<ProviderReply<T>> => {
        try {
          return { provider, answer: await this.#askInOrder(slots, work) };
        } catch (error) {
          if (error instanceof ChainRefused || error instanceof ProviderFailed || error instanceof ChainMismatch)
            return { provider, error };
          throw error;
        }
      }),
    );
  }

  /** How many providers there are, those of one name counted once. */
  get providerCount(): number {
    return new Set(this.#slots.map((slot) => slot.reader.name)).size;
  }

  /** Asks one provider, by its name. */
  async askProvider<T>(provider: string, work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#askInOrder(
      this.slotsByPreference().filter((slot) => slot.reader.name === provider),
      work,
    );
  }

  /** Lets a provider that the others contradict rest, so that the next questions go to them. */
  coolDown(provider: string, durationMs: number): void {
    const untilMs = this.#clock.monotonicMs() + durationMs;
    for (const slot of this.#slots) {
      if (slot.reader.name === provider) slot.cooldownUntilMs = Math.max(slot.cooldownUntilMs, untilMs);
    }
  }

  /** Checks every provider that can be reached. Throws ChainMismatch when one of them serves another chain. */
  async verify(): Promise<void> {
    const checks = await Promise.allSettled(this.#slots.map((slot) => this.#identify(slot)));
    for (const check of checks) {
      if (check.status === "fulfilled") continue;
      if (!(check.reason instanceof ProviderFailed)) throw check.reason;
      this.#log.warn({ chain: this.caip2, err: check.reason }, "a provider did not answer at start");
    }
  }

  async identify(): Promise<ChainIdentity> {
    const genesisHash = await this.ask(async () => this.#genesisHash);
    if (genesisHash === undefined)
      throw new ProviderFailed("unreachable", `no provider of ${this.caip2} told its genesis`);
    return { caip2: this.caip2, genesisHash };
  }

  /**
   * The highest that two of the reachable providers call `safe` or `finalized`: finality that one of two doubts is none, and a third one
   * cannot hold up what two others agree on.
   */
  async head(tag: HeadTag): Promise<BlockRef> {
    if (tag === "latest") return this.ask((reader) => reader.head(tag));
    const replies = await this.askEach((reader) => reader.head(tag), "awake");
    const heads = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, second] = heads.toSorted((one, other) => (one.number > other.number ? -1 : 1));
    if (!first) throw replies.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return second ?? first;
  }

  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    return this.ask((reader) => reader.block(at));
  }

  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return this.ask((reader) => reader.transfers(scope, tokens, parties));
  }

  proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return this.ask((reader) => reader.proofs(chainTxs));
  }

  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    return this.ask((reader) => reader.balances(token, owners, at));
  }

  tokenDecimals(token: string): Promise<number | undefined> {
    return this.ask((reader) => reader.tokenDecimals(token));
  }

  async #askInOrder<T>(slots: readonly ProviderSlot<Reader>[], work: (reader: Reader) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const slot of slots) {
      try {
        return await this.askSlot(slot, work);
      } catch (error) {
        if (!allowsFailover(error)) throw error;
        // A provider of the wrong chain is reported only where no other one failed for a reason that may pass.
        if (failure === undefined || failure instanceof ChainMismatch) failure = error;
      }
    }
    throw failure;
  }

  protected async askSlot<T>(slot: ProviderSlot<Reader>, work: (reader: Reader) => Promise<T>): Promise<T> {
    const silentMs = slot.rateLimitedUntilMs - this.#clock.monotonicMs();
    if (silentMs > 0)
      throw new ProviderFailed(
        "rate_limited",
        `${slot.reader.name} wants to be left alone for ${Math.ceil(silentMs)} ms more`,
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
    if (genesisHash !== this.#genesisHash) {
      throw new ChainMismatch(
        `${reader.name} serves a chain ${caip2} that begins with block ${genesisHash}, the other providers' begins with ${this.#genesisHash}.`,
      );
    }
    slot.verifiedAtMs = nowMs;
  }

  #startCooldown(slot: ProviderSlot<Reader>, error: unknown): void {
    const retryAfterMs = error instanceof ProviderFailed ? (error.retryAfterMs ?? 0) : 0;
    const backoffMs = Math.min(COOLDOWN_MS_MIN * 2 ** slot.failures, COOLDOWN_MS_MAX);
    const cooldownMs = Math.max(backoffMs, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
    const nowMs = this.#clock.monotonicMs();
    slot.failures += 1;
    slot.cooldownUntilMs = Math.max(slot.cooldownUntilMs, nowMs + cooldownMs);
    slot.rateLimitedUntilMs = Math.max(slot.rateLimitedUntilMs, nowMs + Math.min(retryAfterMs, RATE_LIMITED_MS_MAX));
    if (this.#slots.length === 1) return;
    this.#log.warn(
      { chain: this.caip2, provider: slot.reader.name, benchMs: cooldownMs, err: error },
      "a provider failed and rests",
    );
  }

  /** Those that do not rest; all of them, when all do. */
  protected availableSlots(): ProviderSlot<Reader>[] {
    const nowMs = this.#clock.monotonicMs();
    const awake = this.#slots.filter((slot) => slot.cooldownUntilMs <= nowMs);
    return awake.length === 0 ? this.slotsByPreference() : awake;
  }

  /** Those that rest come last, the soonest back first: when all of them rest, one that fails is better than none. */
  protected slotsByPreference(): ProviderSlot<Reader>[] {
    const nowMs = this.#clock.monotonicMs();
    const resting = (slot: ProviderSlot<Reader>) => (slot.cooldownUntilMs > nowMs ? slot.cooldownUntilMs : 0);
    return this.#slots.toSorted((one, other) => resting(one) - resting(other));
  }
}

function isProviderFault(error: unknown): boolean {
  if (error instanceof ChainMismatch) return true;
  return error instanceof ProviderFailed && error.kind !== "range_too_large" && error.kind !== "unknown_block";
}

function allowsFailover(error: unknown): boolean {
  if (error instanceof ChainMismatch) return true;
  return error instanceof ProviderFailed && error.kind !== "range_too_large";
}
