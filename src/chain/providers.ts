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
  type Identity,
  type ReceiptPosition,
  type SubmitOutcome,
  type Transfer,
  type TransferScope,
} from "./driver.ts";

/** A provider that failed rests this long, twice as long after each further failure in a row. */
const BENCH_MS_MIN = 1_000;
const BENCH_MS_MAX = 60_000;
/** One that says how long to leave it alone rests as long, but not for ever by a number too many. */
const TOLD_REST_MS_MAX = 3_600_000;
/** For so long it is not asked at all, also where nobody else is left: asking would only lengthen its silence. */
const SILENCE_MS_MAX = 60_000;
/** What every transaction costs, whatever it does. */
const TRANSACTION_GAS_MIN = 21_000n;
/** Answers to a broadcast, by how much they tell: what one provider has taken is on its way, whatever the others say. */
const TELLING: readonly SubmitOutcome["kind"][] = [
  "accepted",
  "known",
  "nonce_used",
  "underpriced",
  "no_funds",
  "untakeable",
  "unknown",
];
/** Providers asked what gas costs. */
const FEES_ASKED_MAX = 3;
/** A URL can be pointed at another chain while we run. */
const IDENTITY_MS_MAX = 3_600_000;

/** What is configured and what is there are two different chains. Only a person can put that right; asking again cannot. */
export class ChainRefused extends Error {
  override readonly name = "ChainRefused";
}

/** What one provider said when each was asked the same; `error` is a ProviderFailed, ChainRefused or CallReverted. */
export type Said<T> = { provider: string; answer: T } | { provider: string; error: Error };

type Seat = {
  readonly driver: ChainDriver;
  failures: number;
  benchedUntilMs: number;
  /** Until when it wants not to be asked anything. */
  silentUntilMs: number;
  /** When its identity was last found right, on the monotonic clock. */
  identifiedAtMs: number | undefined;
};

/**
 * The providers of one chain, used as one. Each is known to serve this chain before it is asked anything. The first that
 * answers is believed, in order of preference; only finality is a matter of all of them. Whoever needs several to say
 * the same adds it here, where every question already passes: nothing above knows how many there are.
 */
export class Providers implements ChainDriver {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #seats: readonly Seat[];
  readonly #clock: Clock;
  readonly #log: Logger;
  #genesisHash: string | undefined;

  /** `drivers` in order of preference, at least one, all of the same chain. */
  constructor(drivers: readonly [ChainDriver, ...ChainDriver[]], world: { clock: Clock; log: Logger }) {
    this.caip2 = drivers[0].caip2;
    this.name = drivers.map((driver) => driver.name).join(", ");
    this.#seats = drivers.map((driver) => ({
      driver,
      failures: 0,
      benchedUntilMs: 0,
      silentUntilMs: 0,
      identifiedAtMs: undefined,
    }));
    this.#clock = world.clock;
    this.#log = world.log;
  }

  /**
   * Asks one provider, the next when it fails, and throws the last one's error when none is left. All questions of `work` go to the same
   * provider, so that its answers belong together. `range_too_large` and CallReverted are answers: they are thrown at once.
   */
  async ask<T>(work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    return this.#askInTurn(this.#byPreference(), work);
  }

  /**
   * Like `ask`, in the opposite order: what is read a second time is read from somebody else, where somebody else is awake. One that rests
   * has failed or was outvoted, and comes last here as well.
   */
  async askAnother<T>(work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    const preferred = this.#byPreference();
    const awake = new Set(this.#awake());
    const others = preferred.filter((seat) => awake.has(seat)).toReversed();
    return this.#askInTurn([...others, ...preferred.filter((seat) => !awake.has(seat))], work);
  }

  /**
   * Asks each provider, those that rest only when `all` are wanted, and tells who said what. Several of one name are one provider, which is heard once: they are
   * the same host, and one who lies there lies on all of them. Throws for nothing that is a provider's fault.
   */
  async askEach<T>(work: (driver: ChainDriver) => Promise<T>, who: "all" | "awake" = "all"): Promise<Said<T>[]> {
    const seats = who === "all" ? this.#byPreference() : this.#awake();
    const groups = Map.groupBy(seats, (seat) => seat.driver.name);
    return Promise.all(
      [...groups].map(async ([provider, seats]): Promise<Said<T>> => {
        try {
          return { provider, answer: await this.#askInTurn(seats, work) };
        } catch (error) {
          if (error instanceof CallReverted || error instanceof ProviderFailed || error instanceof ChainRefused)
            return { provider, error };
          throw error;
        }
      }),
    );
  }

  /** How many providers there are, those of one name counted once. */
  get size(): number {
    return new Set(this.#seats.map((seat) => seat.driver.name)).size;
  }

  /** Asks one provider, by its name. */
  async askOf<T>(provider: string, work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    return this.#askInTurn(
      this.#byPreference().filter((seat) => seat.driver.name === provider),
      work,
    );
  }

  /** Lets a provider that the others contradict rest, so that the next questions go to them. */
  setAside(provider: string, restMs: number): void {
    const untilMs = this.#clock.monotonicMs() + restMs;
    for (const seat of this.#seats) {
      if (seat.driver.name === provider) seat.benchedUntilMs = Math.max(seat.benchedUntilMs, untilMs);
    }
  }

  /** Checks every provider that can be reached. Throws ChainRefused when one of them serves another chain. */
  async verify(): Promise<void> {
    const checks = await Promise.allSettled(this.#seats.map((seat) => this.#identify(seat)));
    for (const check of checks) {
      if (check.status === "fulfilled") continue;
      if (!(check.reason instanceof ProviderFailed)) throw check.reason;
      this.#log.warn({ chain: this.caip2, err: check.reason }, "a provider did not answer at start");
    }
  }

  async identify(): Promise<Identity> {
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
    const said = await this.askEach((driver) => driver.head(tag), "awake");
    const heads = said.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, second] = heads.toSorted((one, other) => (one.number > other.number ? -1 : 1));
    if (!first) throw said.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return second ?? first;
  }

  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    return this.ask((driver) => driver.block(at));
  }

  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return this.ask((driver) => driver.transfers(scope, tokens, parties));
  }

  positions(chainTxs: readonly string[]): Promise<ReceiptPosition[]> {
    return this.ask((driver) => driver.positions(chainTxs));
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
    const said = await this.askEach((driver) => driver.nonce(address), "awake");
    const nonces = said.flatMap((each) => ("answer" in each ? [each.answer] : []));
    return middleOf(nonces, (nonce) => nonce) ?? this.ask((driver) => driver.nonce(address));
  }

  /** The least that anybody says, for whom one that is too high cannot be mended. */
  async leastNonce(address: string): Promise<bigint> {
    const said = await this.askEach((driver) => driver.nonce(address));
    const nonces = said.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, ...others] = nonces;
    if (first === undefined)
      throw said.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
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
    const seats = this.#awake().slice(0, FEES_ASKED_MAX);
    const answers = await Promise.allSettled(seats.map((seat) => this.#askSeat(seat, (driver) => driver.fees())));
    const quotes = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const middle = middleOf(quotes, (quote) => quote.maxFeePerGas + quote.maxPriorityFeePerGas);
    return middle ?? this.ask((driver) => driver.fees());
  }

  /**
   * That a call would be refused, or would need more gas than a transaction may have, is believed when another one says so too: otherwise
   * one provider could hold up every sweep.
   */
  async estimateGas(call: ChainCall): Promise<bigint> {
    const work = async (driver: ChainDriver) => soundGas(driver.name, await driver.estimateGas(call));
    try {
      return await this.ask(work);
    } catch (error) {
      if (!(error instanceof CallReverted) || this.size < 2) throw error;
      return this.askAnother(work);
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
    const seats = this.#byPreference();
    if (to === "all") return mostTelling(await Promise.all(seats.map((seat) => this.#submitTo(seat, rawTransaction))));
    const outcomes: SubmitOutcome[] = [];
    for (const seat of seats) {
      const outcome = await this.#submitTo(seat, rawTransaction);
      if (outcome.kind === "accepted" || outcome.kind === "known") return outcome;
      outcomes.push(outcome);
    }
    return mostTelling(outcomes);
  }

  async #submitTo(seat: Seat, rawTransaction: string): Promise<SubmitOutcome> {
    try {
      return await this.#askSeat(seat, (driver) => driver.submit(rawTransaction));
    } catch (error) {
      return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async #askInTurn<T>(seats: readonly Seat[], work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const seat of seats) {
      try {
        return await this.#askSeat(seat, work);
      } catch (error) {
        if (!mayAskNext(error)) throw error;
        // A provider of the wrong chain is reported only where no other one failed for a reason that may pass.
        if (failure === undefined || failure instanceof ChainRefused) failure = error;
      }
    }
    throw failure;
  }

  async #askSeat<T>(seat: Seat, work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    const silentMs = seat.silentUntilMs - this.#clock.monotonicMs();
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
      if (isFaultOfProvider(error)) this.#bench(seat, error);
      throw error;
    }
  }

  async #identify(seat: Seat): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (seat.identifiedAtMs !== undefined && nowMs - seat.identifiedAtMs < IDENTITY_MS_MAX) return;
    const { driver } = seat;
    const { caip2, genesisHash } = await driver.identify();
    if (caip2 !== this.caip2) {
      throw new ChainRefused(`${driver.name} is configured as a provider of ${this.caip2} but serves ${caip2}.`);
    }
    this.#genesisHash ??= genesisHash;
    if (genesisHash !== this.#genesisHash) {
      throw new ChainRefused(
        `${driver.name} serves a chain ${caip2} that begins with block ${genesisHash}, the other providers' begins with ${this.#genesisHash}.`,
      );
    }
    seat.identifiedAtMs = nowMs;
  }

  #bench(seat: Seat, error: unknown): void {
    const toldMs = error instanceof ProviderFailed ? (error.retryAfterMs ?? 0) : 0;
    const ownMs = Math.min(BENCH_MS_MIN * 2 ** seat.failures, BENCH_MS_MAX);
    const benchMs = Math.max(ownMs, Math.min(toldMs, TOLD_REST_MS_MAX));
    const nowMs = this.#clock.monotonicMs();
    seat.failures += 1;
    seat.benchedUntilMs = Math.max(seat.benchedUntilMs, nowMs + benchMs);
    seat.silentUntilMs = Math.max(seat.silentUntilMs, nowMs + Math.min(toldMs, SILENCE_MS_MAX));
    if (this.#seats.length === 1) return;
    this.#log.warn(
      { chain: this.caip2, provider: seat.driver.name, benchMs, err: error },
      "a provider failed and rests",
    );
  }

  /** Those that do not rest; all of them, when all do. */
  #awake(): Seat[] {
    const nowMs = this.#clock.monotonicMs();
    const awake = this.#seats.filter((seat) => seat.benchedUntilMs <= nowMs);
    return awake.length === 0 ? this.#byPreference() : awake;
  }

  /** Those that rest come last, the soonest back first: when all of them rest, one that fails is better than none. */
  #byPreference(): Seat[] {
    const nowMs = this.#clock.monotonicMs();
    const resting = (seat: Seat) => (seat.benchedUntilMs > nowMs ? seat.benchedUntilMs : 0);
    return this.#seats.toSorted((one, other) => resting(one) - resting(other));
  }
}

function isFaultOfProvider(error: unknown): boolean {
  if (error instanceof ChainRefused) return true;
  return error instanceof ProviderFailed && error.kind !== "range_too_large" && error.kind !== "unknown_block";
}

function mayAskNext(error: unknown): boolean {
  if (error instanceof ChainRefused) return true;
  return error instanceof ProviderFailed && error.kind !== "range_too_large";
}

/** The lower one of two in the middle. */
function middleOf<T>(answers: readonly T[], sizeOf: (answer: T) => bigint): T | undefined {
  const sorted = answers.toSorted((one, other) => (sizeOf(one) < sizeOf(other) ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** Of two unknown ones that of a provider which has looked at the bytes. */
function mostTelling(outcomes: readonly SubmitOutcome[]): SubmitOutcome {
  const rank = (outcome: SubmitOutcome) =>
    TELLING.indexOf(outcome.kind) + (outcome.kind === "unknown" && outcome.isAnswered !== true ? 1 : 0);
  const [best] = outcomes.toSorted((one, other) => rank(one) - rank(other));
  return best ?? { kind: "unknown", reason: "no provider was asked" };
}

/** With too little the transaction would be taken by no node, and with too much by none either: it would keep all later ones waiting. */
function soundGas(name: string, gas: bigint): bigint {
  if (gas < TRANSACTION_GAS_MIN) throw new ProviderFailed("bad_answer", `${name} says that a call takes ${gas} gas`);
  if (gas > TRANSACTION_GAS_MAX)
    throw new CallReverted(`${name} says that a call takes ${gas} gas, which is more than a transaction may have`);
  return gas;
}
