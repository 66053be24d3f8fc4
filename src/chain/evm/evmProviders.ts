import { Providers } from "../providers.ts";
import { ProviderFailed } from "../reader.ts";
import {
  CallReverted,
  TRANSACTION_GAS_MAX,
  type EvmCall,
  type EvmNode,
  type EvmReceipt,
  type FeeQuote,
  type SubmitOutcome,
} from "./node.ts";

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

/** The providers of one EVM chain as one node. What a sweep's fate hangs on is no single provider's to decide. */
export class EvmProviders extends Providers<EvmNode> implements EvmNode {
  receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    return this.ask((node) => node.receipt(chainTx));
  }

  hasCode(address: string): Promise<boolean> {
    return this.ask((node) => node.hasCode(address));
  }

  /** The middle of what the available providers say, the lower one of two: one that lies or lags alone moves it nowhere. */
  async nonce(address: string): Promise<bigint> {
    const replies = await this.askEach((node) => node.nonce(address), "awake");
    const nonces = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    return lowerMedian(nonces, (nonce) => nonce) ?? this.ask((node) => node.nonce(address));
  }

  /** The least that any provider says: a first nonce that is too high cannot be corrected. */
  async lowestNonce(address: string): Promise<bigint> {
    const replies = await this.askEach((node) => node.nonce(address));
    const nonces = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, ...others] = nonces;
    if (first === undefined)
      throw replies.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return others.reduce((least, nonce) => (nonce < least ? nonce : least), first);
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.ask((node) => node.nativeBalance(address));
  }

  /**
   * The middle of what a few providers ask, the lower one of two: a single quote could burn the gas account. One that is too low only
   * waits, and is paid better later.
   */
  async fees(): Promise<FeeQuote> {
    const slots = this.availableSlots().slice(0, FEE_PROVIDERS_MAX);
    const answers = await Promise.allSettled(slots.map((slot) => this.askSlot(slot, (node) => node.fees())));
    const quotes = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const middle = lowerMedian(quotes, (quote) => quote.maxFeePerGas + quote.maxPriorityFeePerGas);
    return middle ?? this.ask((node) => node.fees());
  }

  /**
   * That a call would be refused, or would need more gas than a transaction may have, takes a second provider: otherwise one provider could
   * hold up every sweep.
   */
  async estimateGas(call: EvmCall): Promise<bigint> {
    const work = async (node: EvmNode) => checkGasEstimate(node.name, await node.estimateGas(call));
    try {
      return await this.ask(work);
    } catch (error) {
      if (!(error instanceof CallReverted) || this.providerCount < 2) throw error;
      return this.askInReverseOrder(work);
    }
  }

  call(call: EvmCall): Promise<string> {
    return this.ask((node) => node.call(call));
  }

  /**
   * Hands the bytes to one provider after another until one of them takes them, or to all, and returns the answer that tells most. Never
   * throws for a provider's failure.
   */
  async submit(rawTransaction: string, to: "one" | "all" = "one"): Promise<SubmitOutcome> {
    const slots = this.slotsByPreference();
    const submitTo = (slot: (typeof slots)[number]) =>
      this.askSlot(slot, (node) => node.submit(rawTransaction)).catch(toUnknownOutcome);
    if (to === "all") return bestOutcome(await Promise.all(slots.map(submitTo)));
    const outcomes: SubmitOutcome[] = [];
    for (const slot of slots) {
      const outcome = await submitTo(slot);
      if (outcome.kind === "accepted" || outcome.kind === "known") return outcome;
      outcomes.push(outcome);
    }
    return bestOutcome(outcomes);
  }
}

function toUnknownOutcome(error: unknown): SubmitOutcome {
  return { kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
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
