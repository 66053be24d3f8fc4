import { setTimeout as delay } from "node:timers/promises";
import type { TestChain } from "../support/chain.ts";
import type { AcknowledgedIntent } from "./merchants.ts";
import type { SeededRandom } from "./seededRandom.ts";

// Chain activity during the kills: payments of all sizes and occasional reorgs.

export type PayersOptions = {
  chain: TestChain;
  random: SeededRandom;
  /** The intents whose inboxes are paid. */
  acknowledged: readonly AcknowledgedIntent[];
  /** The average number of payments per reorg; no reorgs when absent. */
  reorgOnceIn?: number;
  /** The shortest pause between two payments; the longest is six times as long. */
  pauseMs?: number;
};

const PAUSE_MS = 80;
/** Reorgs stay above the chain's `finalized` block. */
const REORG_DEPTH_MAX = 2;
const AMOUNTS = [1_000_000n, 400_000n, 600_000n, 1_250_000n, 1n, 999_999n, 77n];

export class Payers {
  readonly #options: PayersOptions;
  payments = 0;
  reorgs = 0;

  constructor(options: PayersOptions) {
    this.#options = options;
  }

  /** Pays inboxes until aborted. Payments that a reorg drops are not repeated. */
  async run(signal: AbortSignal): Promise<void> {
    const { random, acknowledged, reorgOnceIn, pauseMs = PAUSE_MS } = this.#options;
    while (!signal.aborted) {
      if (acknowledged.length > 0) await this.pay(acknowledged[this.#pickIntentIndex()] ?? acknowledged[0]);
      if (reorgOnceIn !== undefined && random.oneIn(reorgOnceIn)) await this.reorg();
      await delay(pauseMs * (1 + random.below(6)), undefined, { signal }).catch(() => undefined);
    }
  }

  async pay(intent: AcknowledgedIntent | undefined): Promise<void> {
    if (!intent) return;
    const { chain, random } = this.#options;
    const amountUnits = random.pick(AMOUNTS) ?? 1n;
    if (random.oneIn(3)) {
      const half = { token: chain.usdc.address, to: intent.inbox, amountUnits };
      await chain.payInOneBlock([half, { ...half, amountUnits: amountUnits + 1n }]);
      this.payments += 2;
    } else {
      await chain.pay(chain.usdc.address, intent.inbox, { amountUnits });
      this.payments += 1;
    }
  }

  async reorg(): Promise<void> {
    const { chain, random } = this.#options;
    await chain.reorg(1 + random.below(REORG_DEPTH_MAX));
    this.reorgs += 1;
  }

  /** Usually picks a recent intent, sometimes any. */
  #pickIntentIndex(): number {
    const { random, acknowledged } = this.#options;
    const window = random.oneIn(5) ? acknowledged.length : Math.min(acknowledged.length, 10);
    return acknowledged.length - 1 - random.below(window);
  }
}
