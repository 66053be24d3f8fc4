import type { AgreementPolicy, FinalityTier } from "../../config/config.ts";
import type { PinnedRoute } from "../../intent/routes/routeSet.ts";
import { assert } from "../../kernel/assert.ts";
import type { SingleProviderTotal } from "../agreement/agreement.ts";
import type { DepositChange } from "../deposit.ts";
import type { Deposit } from "../deposit.ts";
import type { Holding, HoldingChange } from "../holding/dust.ts";
import type { ChainHead } from "../finality.ts";

/** What is known about one chain of an intent. */
export type ChainFacts = {
  /** Undefined when the chain was never read. */
  head: ChainHead | undefined;
  tiers: readonly FinalityTier[];
  /** The lowest final block of all tiers. What is in blocks up to it exposes nothing. */
  lowestFinalBlock: bigint;
  /**
   * Whether movements of the intent wait there, or it is quarantined. Its deposits may no longer match the chain then.
   */
  isBehind: boolean;
  /** The lowest block with dust of the intent that watch has found and not recorded yet. */
  postponedBlock: bigint | undefined;
  agreement: AgreementPolicy | undefined;
};

type Parts = {
  /** Each chain on which the intent has deposits or holdings. */
  chains: ReadonlyMap<string, ChainFacts>;
  /**
   * The deposits that are not in a final state or that a reorg may still drop, with what the caller learned about them.
   */
  deposits: readonly DepositChange[];
  /** Every holding of the intent, with what the caller learned about it. */
  holdings: readonly HoldingChange[];
  routes: readonly PinnedRoute[];
  /** What counted by the word of a single provider. */
  singleProviderTotals: readonly SingleProviderTotal[];
  /** Whether another active intent occupies the destination. */
  isDestinationTaken: boolean;
  at: Date;
};

/**
 * All facts by which one locked intent is decided: those of every chain that it has money on. Only `readFacts` makes
 * them from rows, and nobody can leave out a part: callers replace single deposits and holdings by what they learned,
 * and the others stay.
 */
export class IntentFacts implements Readonly<Parts> {
  readonly chains: Parts["chains"];
  readonly deposits: Parts["deposits"];
  readonly holdings: Parts["holdings"];
  readonly routes: Parts["routes"];
  readonly singleProviderTotals: Parts["singleProviderTotals"];
  readonly isDestinationTaken: boolean;
  readonly at: Date;
  /** A private field: an object with the same properties is no substitute. */
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.chains = parts.chains;
    this.deposits = parts.deposits;
    this.holdings = parts.holdings;
    this.routes = parts.routes;
    this.singleProviderTotals = parts.singleProviderTotals;
    this.isDestinationTaken = parts.isDestinationTaken;
    this.at = parts.at;
  }

  /** Throws when a chain of a deposit or holding is unknown. */
  static of(parts: Parts): IntentFacts {
    const all = [...parts.deposits, ...parts.holdings];
    for (const { after } of all) assert(parts.chains.has(after.chain), `nothing is known about ${after.chain}`);
    return new IntentFacts(parts);
  }

  /** With these deposits changed or added. */
  withDeposits(changes: readonly DepositChange[]): IntentFacts {
    const merged = new Map(this.deposits.map((change) => [change.after.movement_id, change]));
    for (const change of changes) merged.set(change.after.movement_id, change);
    return IntentFacts.of({ ...this.#parts, deposits: [...merged.values()] });
  }

  /** With each holding as `change` returns it. */
  withHoldings(change: (holding: Holding) => Holding): IntentFacts {
    const holdings = this.holdings.map(({ before, after }) => ({ before, after: change(after) }));
    return IntentFacts.of({ ...this.#parts, holdings });
  }

  withDestinationTaken(): IntentFacts {
    return IntentFacts.of({ ...this.#parts, isDestinationTaken: true });
  }

  /** The deposits as the database has them. */
  known(): Deposit[] {
    return this.deposits.flatMap(({ before }) => before ?? []);
  }

  isBehind(chain: string): boolean {
    return this.chains.get(chain)?.isBehind ?? true;
  }
}
