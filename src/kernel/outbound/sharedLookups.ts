import { systemTimer, type Timer } from "../clock.ts";
import type { ResolveName } from "./resolveName.ts";

/** How long a failure is the answer for the same name. */
const FAILURE_MS = 5_000;
const FAILURES_MAX = 1_000;
/** Names of one account that are looked up at once; more wait. */
const ACCOUNT_MAX = 4;

type Failure = { readonly error: Error; readonly untilMs: number };

/**
 * Looks up names so that one account's name servers delay that account alone: callers for the same name share a lookup,
 * a failure is kept briefly, and an account has a few lookups at once. Addresses are not kept, because each connection
 * asks anew where the name leads.
 */
export class SharedLookups {
  readonly #resolve: ResolveName;
  readonly #timer: Pick<Timer, "monotonicMs">;
  readonly #open = new Map<string, Promise<readonly string[]>>();
  readonly #failures = new Map<string, Failure>();
  readonly #accounts = new Map<string, AccountTurns>();

  constructor(resolve: ResolveName, timer: Pick<Timer, "monotonicMs"> = systemTimer) {
    this.#resolve = resolve;
    this.#timer = timer;
  }

  async lookup(hostname: string, account: string): Promise<readonly string[]> {
    const known = this.#known(hostname);
    if (known !== undefined) return known;
    const turns = this.#accounts.get(account) ?? { running: 0, waiting: [] };
    this.#accounts.set(account, turns);
    if (turns.running >= ACCOUNT_MAX) {
      const { promise, resolve } = Promise.withResolvers<void>();
      turns.waiting.push(resolve);
      await promise;
    } else turns.running += 1;
    try {
      return await (this.#known(hostname) ?? this.#start(hostname));
    } finally {
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else if ((turns.running -= 1) === 0) this.#accounts.delete(account);
    }
  }

  /** The lookup that runs, or the failure that is kept. */
  #known(hostname: string): Promise<readonly string[]> | undefined {
    const failure = this.#failures.get(hostname);
    if (failure !== undefined && failure.untilMs > this.#timer.monotonicMs()) return Promise.reject(failure.error);
    return this.#open.get(hostname);
  }

  #start(hostname: string): Promise<readonly string[]> {
    const lookup = this.#resolve(hostname)
      .catch((error: unknown) => {
        this.#keep(hostname, error instanceof Error ? error : new Error(String(error)));
        throw error;
      })
      .finally(() => this.#open.delete(hostname));
    this.#open.set(hostname, lookup);
    return lookup;
  }

  #keep(hostname: string, error: Error): void {
    this.#failures.delete(hostname);
    const [oldest = ""] = this.#failures.size >= FAILURES_MAX ? this.#failures.keys() : [];
    this.#failures.delete(oldest);
    this.#failures.set(hostname, { error, untilMs: this.#timer.monotonicMs() + FAILURE_MS });
  }
}

type AccountTurns = { running: number; readonly waiting: (() => void)[] };
