import type { Logger } from "pino";
import type { Caip2 } from "../kernel/caip.ts";
import type { Clock } from "../kernel/clock.ts";
import {
  CallReverted,
  ProviderFailed,
  TRANSACTION_GAS_MAX,
  type BlockRef,
  type ChainCall,
  type ChainDriver,
  type ChainReceipt,
  type FeeQuote,
  type HeadTag,
  type ChainIdentity,
  type ReceiptPosition,
  type SubmitOutcome,
  type Transfer,
  type TransferScope,
} from "./driver.ts";

/** A provider that failed rests this long, twice as long after each further failure in a row. */
const COOLDOWN_MS_MIN = 1_000;
const COOLDOWN_MS_MAX = 60_000;
/** One that says how long to leave it alone rests as long, but not for ever by a number too many. */
const RETRY_AFTER_MS_MAX = 3_600_000;
/** For so long it is not asked at all, also where nobody else is left: asking would only lengthen its silence. */
const RATE_LIMITED_MS_MAX = 60_000;
/** What every transaction costs, whatever it does. */
const TRANSACTION_GAS_MIN = 21_000n;
/** Answers to a broadcast, by how much they tell: what one provider has taken is on its way, whatever the others say. */
const OUTCOME_PRECEDENCE: readonly SubmitOutcome["kind"][] = [
  "accepted",
  "known",
  "nonce_used",
  "underpriced",
  "no_funds",
  "untakeable",
  "unknown",
];
/** Providers asked what gas costs. */
const FEE_PROVIDERS_MAX = 3;
/** A URL can be pointed at another chain while we run. */
const IDENTITY_TTL_MS = 3_600_000;

/** What is configured and what is there are two different chains. Only a person can put that right; asking again cannot. */
export class ChainMismatch extends Error {
  override readonly name = "ChainMismatch";
}

/** What one provider said when each was asked the same; `error` is a ProviderFailed, ChainMismatch or CallReverted. */
export type ProviderReply<T> = { provider: string; answer: T } | { provider: string; error: Error };

type ProviderSlot = {
  readonly driver: ChainDriver;
  failures: number;
  cooldownUntilMs: number;
  /** Until when it wants not to be asked anything. */
  rateLimitedUntilMs: number;
  /** When its identity was last found right, on the monotonic clock. */
  verifiedAtMs: number | undefined;
};

/**
 * The providers of one chain, used as one. Each is known to serve this chain before it is asked anything. The first that
 * answers is believed, in order of preference; only finality is a matter of all of them. Whoever needs several to say
 * the same adds it here, where every question already passes: nothing above knows how many there are.
 */
export class Providers implements ChainDriver {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #slots: readonly ProviderSlot[];
  readonly #clock: Clock;
  readonly #log: Logger;
  #genesisHash: string | undefined;

  /** `drivers` in order of preference, at least one, all of the same chain. */
  constructor(drivers: readonly [ChainDriver, ...ChainDriver[]], world: { clock: Clock; log: Logger }) {
    this.caip2 = drivers[0].caip2;
    this.name = drivers.map((driver) => driver.name).join(", ");
    this.#slots = drivers.map((driver) => ({
      driver,
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
   * provider, so that its answers belong together. `range_too_large` and CallReverted are answers: they are thrown at once.
   */
  async ask<T>(work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    return this.#askInOrder(this.#slotsByPreference(), work);
  }

  /**
   * Like `ask`, in the opposite order: what is read a second time is read from somebody else, where somebody else is awake. One that rests
   * has failed or was outvoted, and comes last here as well.
   */
  async askInReverseOrder<T>(work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    const preferred = this.#slotsByPreference();
    const available = new Set(this.#availableSlots());
    const others = preferred.filter((seat) => available.has(seat)).toReversed();
    return this.#askInOrder([...others, ...preferred.filter((seat) => !available.has(seat))], work);
  }

  /**
   * Asks each provider, those that rest only when `all` are wanted, and tells who said what. Several of one name are one provider, which is heard once: they are
   * the same host, and one who lies there lies on all of them. Throws for nothing that is a provider's fault.
   */
  async askEach<T>(
    work: (driver: ChainDriver) => Promise<T>,
    scope: "all" | "awake" = "all",
  ): Promise<ProviderReply<T>[]> {
    const seats = scope === "all" ? this.#slotsByPreference() : this.#availableSlots();
    const groups = Map.groupBy(seats, (seat) => seat.driver.name);
    return Promise.all(
      [...groups].map(async ([provider, seats]): Promise<ProviderReply<T>> => {
        try {
          return { provider, answer: await this.#askInOrder(seats, work) };
        } catch (error) {
          if (error instanceof CallReverted || error instanceof ProviderFailed || error instanceof ChainMismatch)
            return { provider, error };
          throw error;
        }
      }),
    );
  }

  /** How many providers there are, those of one name counted once. */
  get providerCount(): number {
    return new Set(this.#slots.map((seat) => seat.driver.name)).size;
  }

  /** Asks one provider, by its name. */
  async askProvider<T>(provider: string, work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    return this.#askInOrder(
      this.#slotsByPreference().filter((seat) => seat.driver.name === provider),
      work,
    );
  }

  /** Lets a provider that the others contradict rest, so that the next questions go to them. */
  coolDown(provider: string, durationMs: number): void {
    const untilMs = this.#clock.monotonicMs() + durationMs;
    for (const seat of this.#slots) {
      if (seat.driver.name === provider) seat.cooldownUntilMs = Math.max(seat.cooldownUntilMs, untilMs);
    }
  }

  /** Checks every provider that can be reached. Throws ChainMismatch when one of them serves another chain. */
  async verify(): Promise<void> {
    const checks = await Promise.allSettled(this.#slots.map((seat) => this.#identify(seat)));
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
    if (tag === "latest") return this.ask((driver) => driver.head(tag));
    const replies = await this.askEach((driver) => driver.head(tag), "awake");
    const heads = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, second] = heads.toSorted((one, other) => (one.number > other.number ? -1 : 1));
    if (!first) throw replies.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return second ?? first;
  }

  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    return this.ask((driver) => driver.block(at));
  }

  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return this.ask((driver) => driver.transfers(scope, tokens, parties));
  }

  receiptPositions(chainTxs: readonly string[]): Promise<ReceiptPosition[]> {
    return this.ask((driver) => driver.receiptPositions(chainTxs));
  }

  receipt(chainTx: string): Promise<ChainReceipt | undefined> {
    return this.ask((driver) => driver.receipt(chainTx));
  }

  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    return this.ask((driver) => driver.balances(token, owners, at));
  }

  tokenDecimals(token: string): Promise<number> {
    return this.ask((driver) => driver.tokenDecimals(token));
  }

  hasCode(address: string): Promise<boolean> {
    return this.ask((driver) => driver.hasCode(address));
  }

  /** The middle of what those say that are awake, the lower one of two: one that lies or lags alone moves it nowhere. */
  async nonce(address: string): Promise<bigint> {
    const replies = await this.askEach((driver) => driver.nonce(address), "awake");
    const nonces = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    return lowerMedian(nonces, (nonce) => nonce) ?? this.ask((driver) => driver.nonce(address));
  }

  /** The least that anybody says, for whom one that is too high cannot be mended. */
  async lowestNonce(address: string): Promise<bigint> {
    const replies = await this.askEach((driver) => driver.nonce(address));
    const nonces = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, ...others] = nonces;
    if (first === undefined)
      throw replies.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return others.reduce((least, nonce) => (nonce < least ? nonce : least), first);
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.ask((driver) => driver.nativeBalance(address));
  }

  /**
   * The middle of what a few providers ask, the lower one of two: whoever quotes by himself could have us burn the gas account. One that is
   * too low only waits, and is paid better later.
   */
  async fees(): Promise<FeeQuote> {
    const seats = this.#availableSlots().slice(0, FEE_PROVIDERS_MAX);
    const answers = await Promise.allSettled(seats.map((seat) => this.#askSlot(seat, (driver) => driver.fees())));
    const quotes = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const middle = lowerMedian(quotes, (quote) => quote.maxFeePerGas + quote.maxPriorityFeePerGas);
    return middle ?? this.ask((driver) => driver.fees());
  }

  /**
   * That a call would be refused, or would need more gas than a transaction may have, is believed when another one says so too: otherwise
   * one provider could hold up every sweep.
   */
  async estimateGas(call: ChainCall): Promise<bigint> {
    const work = async (driver: ChainDriver) => checkGasEstimate(driver.name, await driver.estimateGas(call));
    try {
      return await this.ask(work);
    } catch (error) {
      if (!(error instanceof CallReverted) || this.providerCount < 2) throw error;
      return this.askInReverseOrder(work);
    }
  }

  call(call: ChainCall): Promise<string> {
    return this.ask((driver) => driver.call(call));
  }

  /**
   * Hands the bytes to one provider after another until one of them takes them, or to all, and returns the answer that tells most. Never
   * throws for a provider's failure.
   */
  async submit(rawTransaction: string, to: "one" | "all" = "one"): Promise<SubmitOutcome> {
    const seats = this.#slotsByPreference();
    if (to === "all") return bestOutcome(await Promise.all(seats.map((seat) => this.#submitTo(seat, rawTransaction))));
    const outcomes: SubmitOutcome[] = [];
    for (const seat of seats) {
      const outcome = await this.#submitTo(seat, rawTransaction);
      if (outcome.kind === "accepted" || outcome.kind === "known") return outcome;
      outcomes.push(outcome);
    }
    return bestOutcome(outcomes);
  }

  async #submitTo(seat: ProviderSlot, rawTransaction: string): Promise<SubmitOutcome> {
    try {
      return await this.#askSlot(seat, (driver) => driver.submit(rawTransaction));
    } catch (error) {
      return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async #askInOrder<T>(seats: readonly ProviderSlot[], work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const seat of seats) {
      try {
        return await this.#askSlot(seat, work);
      } catch (error) {
        if (!allowsFailover(error)) throw error;
        // A provider of the wrong chain is reported only where no other one failed for a reason that may pass.
        if (failure === undefined || failure instanceof ChainMismatch) failure = error;
      }
    }
    throw failure;
  }

  async #askSlot<T>(seat: ProviderSlot, work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    const silentMs = seat.rateLimitedUntilMs - this.#clock.monotonicMs();
    if (silentMs > 0)
      throw new ProviderFailed(
        "rate_limited",
        `${seat.driver.name} wants to be left alone for ${Math.ceil(silentMs)} ms more`,
      );
    try {
      await this.#identify(seat);
      const answer = await work(seat.driver);
      seat.failures = 0;
      return answer;
    } catch (error) {
      if (isProviderFault(error)) this.#startCooldown(seat, error);
      throw error;
    }
  }

  async #identify(seat: ProviderSlot): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (seat.verifiedAtMs !== undefined && nowMs - seat.verifiedAtMs < IDENTITY_TTL_MS) return;
    const { driver } = seat;
    const { caip2, genesisHash } = await driver.identify();
    if (caip2 !== this.caip2) {
      throw new ChainMismatch(`${driver.name} is configured as a provider of ${this.caip2} but serves ${caip2}.`);
    }
    this.#genesisHash ??= genesisHash;
    if (genesisHash !== this.#genesisHash) {
      throw new ChainMismatch(
        `${driver.name} serves a chain ${caip2} that begins with block ${genesisHash}, the other providers' begins with ${this.#genesisHash}.`,
      );
    }
    seat.verifiedAtMs = nowMs;
  }

  #startCooldown(seat: ProviderSlot, error: unknown): void {
    const retryAfterMs = error instanceof ProviderFailed ? (error.retryAfterMs ?? 0) : 0;
    const backoffMs = Math.min(COOLDOWN_MS_MIN * 2 ** seat.failures, COOLDOWN_MS_MAX);
    const cooldownMs = Math.max(backoffMs, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
    const nowMs = this.#clock.monotonicMs();
    seat.failures += 1;
    seat.cooldownUntilMs = Math.max(seat.cooldownUntilMs, nowMs + cooldownMs);
    seat.rateLimitedUntilMs = Math.max(seat.rateLimitedUntilMs, nowMs + Math.min(retryAfterMs, RATE_LIMITED_MS_MAX));
    if (this.#slots.length === 1) return;
    this.#log.warn(
      { chain: this.caip2, provider: seat.driver.name, benchMs: cooldownMs, err: error },
      "a provider failed and rests",
    );
  }

  /** Those that do not rest; all of them, when all do. */
  #availableSlots(): ProviderSlot[] {
    const nowMs = this.#clock.monotonicMs();
    const awake = this.#slots.filter((seat) => seat.cooldownUntilMs <= nowMs);
    return awake.length === 0 ? this.#slotsByPreference() : awake;
  }

  /** Those that rest come last, the soonest back first: when all of them rest, one that fails is better than none. */
  #slotsByPreference(): ProviderSlot[] {
    const nowMs = this.#clock.monotonicMs();
    const resting = (seat: ProviderSlot) => (seat.cooldownUntilMs > nowMs ? seat.cooldownUntilMs : 0);
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

/** The lower one of two in the middle. */
function lowerMedian<T>(answers: readonly T[], keyOf: (answer: T) => bigint): T | undefined {
  const sorted = answers.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Of two unknown ones that of a provider which has looked at the bytes. */
function bestOutcome(outcomes: readonly SubmitOutcome[]): SubmitOutcome {
  const rank = (outcome: SubmitOutcome) =>
    OUTCOME_PRECEDENCE.indexOf(outcome.kind) + (outcome.kind === "unknown" && outcome.hasNodeReply !== true ? 1 : 0);
  const [best] = outcomes.toSorted((one, other) => rank(one) - rank(other));
  return best ?? { kind: "unknown", reason: "no provider was asked" };
}

/** With too little the transaction would be taken by no node, and with too much by none either: it would keep all later ones waiting. */
function checkGasEstimate(name: string, gas: bigint): bigint {
  if (gas < TRANSACTION_GAS_MIN) throw new ProviderFailed("bad_answer", `${name} says that a call takes ${gas} gas`);
  if (gas > TRANSACTION_GAS_MAX)
    throw new CallReverted(`${name} says that a call takes ${gas} gas, which is more than a transaction may have`);
  return gas;
}
