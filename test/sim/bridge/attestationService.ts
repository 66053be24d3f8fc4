import { parseBurnMessage } from "@tributary/inbox/burnMessage";
import { completeMessage, signMessage, termsOfBurn } from "../chain/bridge.ts";
import { hashOf, type ScriptedReceipt } from "../chain/transaction.ts";
import type { ScriptedChain } from "../chain/scriptedChain.ts";
import type { BridgePlan, ChainPlan } from "../plan.ts";

// The bridge's attestation service as it answers without faults. It signs what its chains cannot lose by a tolerated
// reorg, keeps what it has signed, and signs an expired message anew when it is asked to.

const FAST = 1_000;
const STANDARD = 2_000;
const PPM = 1_000_000n;
const PPM_PER_BPS = 100;
const LIFE_MS_MIN = 4_000;

export type AttestedMessage = {
  message: string;
  attestation: string;
  status: "complete" | "pending_confirmations";
  delayReason: string | null;
};

/** `attestedBlock`: the highest block of which it has signed something. */
type ServedChain = {
  readonly chain: ScriptedChain;
  readonly plan: Pick<ChainPlan, "toleratedReorgDepth" | "finalityLag" | "blockMs">;
  attestedBlock: number;
};

type Signed = { message: string; expirationBlock: bigint; renewFromMs: number | undefined };

export class AttestationService {
  /** In basis points. The fast fee may change; the standard one is what the messengers ask for at least. */
  fastFeeBps: number;
  standardFeeBps = 0;
  /** Why it signs nothing until a time. */
  delay: { reason: string | null; untilMs: number } = { reason: null, untilMs: 0 };
  readonly #plan: BridgePlan;
  readonly #chains: readonly ServedChain[];
  readonly #nowMs: () => number;
  readonly #startMs: number;
  readonly #isSignedLate: () => boolean;
  readonly #signed = new Map<string, Signed>();

  /** `isSignedLate`: whether the first proof of a fast burn has expired when it is signed. */
  constructor(parts: {
    plan: BridgePlan;
    chains: readonly ServedChain[];
    nowMs: () => number;
    startMs: number;
    isSignedLate: () => boolean;
  }) {
    this.#plan = parts.plan;
    this.#chains = parts.chains;
    this.#nowMs = parts.nowMs;
    this.#startMs = parts.startMs;
    this.#isSignedLate = parts.isSignedLate;
    this.fastFeeBps = parts.plan.fastFeeBps;
  }

  /** The messages of a transaction that it has seen; empty while it has seen none. */
  messagesOf(domain: number, chainTx: string): AttestedMessage[] {
    const side = this.#chains[domain];
    const receipt = side?.chain.receiptsOf(chainTx).find(({ blockHash }) => side.chain.isCanonical(blockHash));
    if (side === undefined || receipt === undefined) return [];
    const minedMs = Number(side.chain.blockAt(receipt.blockNumber)?.timestampS ?? 0) * 1_000 - this.#startMs;
    if (this.#nowMs() < minedMs + this.#plan.seenAfterMs) return [];
    return receipt.logs.flatMap(({ sent }, index) =>
      sent === undefined ? [] : [this.#attest(side, receipt, { sent, nonce: nonceOf(domain, chainTx, index) })],
    );
  }

  /** Signs a message anew after a while. False for one that it has not signed. */
  renew(nonce: string): boolean {
    const signed = this.#signed.get(nonce);
    if (signed !== undefined) signed.renewFromMs ??= this.#nowMs() + this.#plan.renewAfterMs;
    return signed !== undefined;
  }

  #attest(side: ServedChain, { blockNumber }: ScriptedReceipt, burn: { sent: string; nonce: string }): AttestedMessage {
    const { sent, nonce } = burn;
    const parsed = parseBurnMessage(sent);
    const settle = this.#chains[parsed?.settleDomain ?? -1];
    if (parsed === undefined || settle === undefined) return pending(sent, null);
    const known = this.#signed.get(nonce);
    if (known !== undefined && (known.renewFromMs === undefined || known.renewFromMs > this.#nowMs()))
      return complete(known.message);
    const { feeMaxUnits, threshold } = termsOfBurn(sent);
    const feeUnits = (parsed.units * BigInt(Math.round(this.fastFeeBps * PPM_PER_BPS))) / PPM;
    const isFast = threshold <= FAST && feeUnits <= feeMaxUnits;
    const depth = side.chain.head.number - blockNumber;
    if (known === undefined && this.delay.untilMs > this.#nowMs()) return pending(sent, this.delay.reason);
    if (known === undefined && depth < BigInt(isFast ? this.#fastDepth(side) : this.#finalDepth(side)))
      return pending(sent, threshold <= FAST && !isFast ? "insufficient_fee" : null);
    const head = settle.chain.head.number;
    const blocks = isFast && known === undefined && this.#isSignedLate() ? 0 : this.#lifeOf(settle);
    const fields = isFast
      ? { threshold: FAST, feeUnits, expirationBlock: head + BigInt(blocks) }
      : { threshold: STANDARD, feeUnits: 0n, expirationBlock: 0n };
    const message = completeMessage(sent, { nonce, ...fields });
    this.#signed.set(nonce, { message, expirationBlock: fields.expirationBlock, renewFromMs: undefined });
    side.attestedBlock = Math.max(side.attestedBlock, Number(blockNumber));
    return complete(message);
  }

  /** Long enough that a transaction can be mined in time where blocks are short. */
  #lifeOf({ plan }: ServedChain): number {
    return Math.max(this.#plan.expiresAfterBlocks, Math.ceil(LIFE_MS_MIN / plan.blockMs));
  }

  #fastDepth({ plan }: ServedChain): number {
    return plan.toleratedReorgDepth + 1;
  }

  #finalDepth(side: ServedChain): number {
    return Math.max(this.#fastDepth(side), side.plan.finalityLag?.finalized ?? 0);
  }
}

/** The number of a message: the same wherever its transaction is mined. */
export function nonceOf(domain: number, chainTx: string, index: number): string {
  return hashOf("message", domain, chainTx, index);
}

function complete(message: string): AttestedMessage {
  return { message, attestation: signMessage(message), status: "complete", delayReason: null };
}

function pending(message: string, delayReason: string | null): AttestedMessage {
  return { message, attestation: "PENDING", status: "pending_confirmations", delayReason };
}
