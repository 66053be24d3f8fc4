import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { encodeFunctionData } from "viem";
import { readState } from "../../src/http/checkout/state/readState.ts";
import { toInboxTerms } from "../../src/intent/inboxTerms.ts";
import { findIntentById, type IntentRow } from "../../src/intent/store.ts";
import type { World } from "../../src/world.ts";
import { tokenCalls } from "./chain/token.ts";
import type { SeededRandom } from "./seededRandom.ts";
import { payerAddress, type SimWorld, type TrackedIntent } from "./simWorld.ts";

// Payers who pay exactly what the page asks for, payers who would be counted early, and a stranger who settles in the
// middle of a payment.

/** After the faults, so that what is on its way has arrived, and the providers tell the truth. */
const ASKED_AFTER_MS = 180_000;
/** Just within the first finality tier's limit. */
const INSTALMENT_PRICE_UNITS = 9_900_000n;
const SMALL_UNITS = 60_000n;

type PayerTools = {
  request: <T>(work: (world: World) => Promise<T>) => Promise<T | undefined>;
  sleep: (durationMs: number) => Promise<void>;
  /** Pays in the payout's token. */
  pay: (known: TrackedIntent, units: bigint, random: SeededRandom) => void;
  payAcross: (known: TrackedIntent, units: bigint, random: SeededRandom) => Promise<void>;
};

export class WatchfulPayers {
  /** The intents whose page asked a payer for an amount that he then paid. */
  readonly asked = new Set<string>();
  readonly #simWorld: SimWorld;
  readonly #tools: PayerTools;

  constructor(simWorld: SimWorld, tools: PayerTools) {
    this.#simWorld = simWorld;
    this.#tools = tools;
  }

  /** Reads the page once the faults are over, and pays exactly what it asks for. */
  async payAsked(known: TrackedIntent, random: SeededRandom): Promise<void> {
    const { plan, scheduler, trace, violate } = this.#simWorld.parts;
    await this.#tools.sleep(Math.max(0, plan.chaosMs + ASKED_AFTER_MS - scheduler.nowMs));
    const { id } = known.row;
    const shown = await this.#tools.request(async (world) => {
      return { state: await readState(world, id), intent: await findIntentById(world.db, id) };
    });
    if (shown?.state === undefined || shown.intent === undefined) return;
    const { state, intent } = shown;
    const inTime = intent.counted_units - intent.late_units;
    const isPaid = state.stage === "paid" || state.stage === "overpaid";
    if (isPaid && intent.price_token_units !== null && !isReached(intent, inTime))
      violate("the page shows a payment as paid that came too late", id);
    const units = BigInt(state.remainingUnits ?? 0);
    if (units === 0n || intent.status !== "active") return;
    trace.append("payer", `pays ${units} that the page asks for for ${id.slice(0, 8)}`);
    this.asked.add(id);
    this.#tools.pay(known, units, random);
  }

  /** One transaction pays a unit, settles, and pays the rest. */
  settleBetween({ chain, row }: TrackedIntent, units: bigint): void {
    const pay = (amount: bigint) => ({
      to: row.payout_token,
      data: tokenCalls.transfer(row.inbox_address, amount),
    });
    const settle = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [toInboxTerms(row)] });
    const calls = [pay(1n), { to: hubAddress, data: settle }, pay(units)];
    chain.chain.send({ from: payerAddress(0), calls });
  }

  /**
   * Two parts on the intent's chain, each within the limit of the first finality tier, and a small one on the other
   * chain.
   */
  async payInstalments(known: TrackedIntent, random: SeededRandom): Promise<void> {
    const { row, chain } = known;
    const waitMs = () => chain.plan.blockMs * random.between(1, 6);
    for (let part = 0; part < 2; part += 1) {
      this.#tools.pay(known, INSTALMENT_PRICE_UNITS * 10n ** BigInt(row.payout_decimals - 6), random);
      await this.#tools.sleep(waitMs());
    }
    await this.#tools.payAcross(known, SMALL_UNITS, random);
  }
}

/** Whether a sum reaches the price of an intent. */
export function isReached(
  intent: Pick<IntentRow, "price_token_units" | "underpay_tolerance_bps">,
  units: bigint,
): boolean {
  const { price_token_units: price, underpay_tolerance_bps: toleranceBps } = intent;
  return price !== null && units * 10_000n >= price * BigInt(10_000 - toleranceBps);
}
