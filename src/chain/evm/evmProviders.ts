import { TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import { lowerMedian } from "../lowerMedian.ts";
import { Providers } from "../providers.ts";
import { ProviderFailed } from "../reader.ts";
import {
  CallReverted,
  type EvmCall,
  type SimulatedCall,
  type EvmNode,
  type EvmReceipt,
  type FeeQuote,
  type SubmitOutcome,
} from "./node.ts";

/** The intrinsic gas of every transaction. */
const TRANSACTION_GAS_MIN = 21_000n;
/** Broadcast outcomes in order of precedence: one accepting provider is enough for propagation. */
const OUTCOME_PRECEDENCE: readonly SubmitOutcome["kind"][] = [
  "accepted",
  "known",
  "nonce_used",
  "underpriced",
  "no_funds",
  "untakeable",
  "unknown",
];
/**
 * Fee quotes needed, where there are so many providers: one false quote could cost the gas account most of its balance.
 */
const FEE_QUOTES_MIN = 2;

/** The providers of one EVM chain as one node. Decisions about a sweep need more than one provider. */
export class EvmProviders extends Providers<EvmNode> implements EvmNode {
  receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    return this.run((node) => node.receipt(chainTx));
  }

  hasCode(address: string): Promise<boolean> {
    return this.run((node) => node.hasCode(address));
  }

  /** The lower median of the available providers' answers, so that one false or lagging answer changes nothing. */
  async nonce(address: string): Promise<bigint> {
    const replies = await this.runAll((node) => node.nonce(address), "available");
    const nonces = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    return lowerMedian(nonces) ?? this.run((node) => node.nonce(address));
  }

  /** The lowest answer of any provider: a first nonce that is too high cannot be corrected. */
  async lowestNonce(address: string): Promise<bigint> {
    const replies = await this.runAll((node) => node.nonce(address));
    const nonces = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    const [first, ...others] = nonces;
    if (first === undefined)
      throw replies.find((each) => "error" in each)?.error ?? new ProviderFailed("unreachable", this.name);
    return others.reduce((least, nonce) => (nonce < least ? nonce : least), first);
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.run((node) => node.nativeBalance(address));
  }

  /**
   * The lower median of the available providers' base fees, and of their tips. One false quote of two or more therefore
   * never raises the fee. A low fee only waits, and is raised later.
   */
  async fees(): Promise<FeeQuote> {
    const quotes = await this.#feeQuotes("available");
    const isEnough = quotes.length >= Math.min(FEE_QUOTES_MIN, this.providerCount);
    const available = isEnough ? quotes : await this.#feeQuotes("all");
    const baseFeePerGas = lowerMedian(available.map((quote) => quote.baseFeePerGas));
    const maxPriorityFeePerGas = lowerMedian(available.map((quote) => quote.maxPriorityFeePerGas));
    if (baseFeePerGas === undefined || maxPriorityFeePerGas === undefined) return this.run((node) => node.fees());
    return { baseFeePerGas, maxPriorityFeePerGas };
  }

  async #feeQuotes(scope: "all" | "available"): Promise<FeeQuote[]> {
    const replies = await this.runAll((node) => node.fees(), scope);
    return replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  }

  blockGasLimit(): Promise<bigint> {
    return this.run((node) => node.blockGasLimit());
  }

  /**
   * A second provider must confirm a refusal, or an estimate above the gas limit. Otherwise one provider could block
   * every sweep.
   */
  async estimateGas(call: EvmCall): Promise<bigint> {
    const work = async (node: EvmNode) => checkGasEstimate(node.name, await node.estimateGas(call));
    try {
      return await this.run(work);
    } catch (error) {
      if (!(error instanceof CallReverted) || this.providerCount < 2) throw error;
      return this.runLastFirst(work);
    }
  }

  call(call: SimulatedCall): Promise<string> {
    return this.run((node) => node.call(call));
  }

  /**
   * Submits the bytes to one provider after another until one accepts them, or to all, and returns the most informative
   * outcome. Never throws for a provider's failure.
   */
  async submit(rawTransaction: string, to: "one" | "all" = "one"): Promise<SubmitOutcome> {
    const slots = this.slotsByPreference();
    const submitTo = (slot: (typeof slots)[number]) =>
      this.runSlot(slot, (node) => node.submit(rawTransaction)).catch(toUnknownOutcome);
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

/** Of two unknown outcomes, prefers one from a node that has checked the bytes. */
function bestOutcome(outcomes: readonly SubmitOutcome[]): SubmitOutcome {
  const rank = (outcome: SubmitOutcome) =>
    OUTCOME_PRECEDENCE.indexOf(outcome.kind) + (outcome.kind === "unknown" && outcome.hasNodeReply !== true ? 1 : 0);
  const [best] = outcomes.toSorted((one, other) => rank(one) - rank(other));
  return best ?? { kind: "unknown", reason: "no provider was asked" };
}

/** Nodes reject a gas limit that is too low or too high; the transaction would block every later one. */
function checkGasEstimate(name: string, gas: bigint): bigint {
  if (gas < TRANSACTION_GAS_MIN) throw new ProviderFailed("bad_answer", `${name} estimates ${gas} gas for a call`);
  if (gas > TRANSACTION_GAS_MAX)
    throw new CallReverted(`${name} estimates ${gas} gas for a call, above the limit of a transaction`);
  return gas;
}
