import { bridgeCalls } from "../chain/bridge.ts";
import { tokenCalls } from "../chain/token.ts";
import type { FaultKind } from "../faultSchedule.ts";
import type { SeededRandom } from "../seededRandom.ts";
import type { SimChain, SimWorld } from "../simWorld.ts";

const DOWN_MS = [20_000, 120_000, 1_200_000, 7_200_000] as const;
const HIDDEN_DOWN_MS_MAX = 600_000;
const DELAY_REASONS = [null, "insufficient_allowance_available", "amount_above_max"] as const;
/** A least fee in basis points is this many ten millionths. */
const MIN_FEE_PER_BPS = 1_000n;

type OwnerCall = { to: string; data: string };

/** What faults need of the injector. */
export type BridgeFaultParts = {
  simWorld: SimWorld;
  random: SeededRandom;
  injectRepeatedly: (kind: FaultKind, strike: () => void) => void;
  recordInjected: (kind: FaultKind, detail: string) => void;
  afterUnlessHealed: (delayMs: number, work: () => void) => void;
  /** Sends calls of the owner of tokens and bridge. */
  send: (chain: SimChain, calls: OwnerCall[]) => void;
  listInboxes: () => string[];
};

/** Faults of the bridge and its service. The service's own silence does not end with the other faults. */
export class BridgeFaults {
  readonly #parts: BridgeFaultParts;
  readonly #refused = new Set<string>();

  constructor(parts: BridgeFaultParts) {
    this.#parts = parts;
  }

  start(): void {
    const { simWorld, injectRepeatedly, random } = this.#parts;
    const { attestation } = simWorld;
    if (attestation === undefined) return;
    const nowMs = () => simWorld.parts.scheduler.nowMs;
    injectRepeatedly("attestationDown", () => {
      attestation.downUntilMs = nowMs() + random.pick(DOWN_MS);
      this.#note("attestationDown", String(attestation.downUntilMs));
    });
    injectRepeatedly("attestationDelayed", () => {
      const untilMs = nowMs() + random.pick([10_000, 60_000, 1_800_000] as const);
      attestation.service.delay = { reason: random.pick(DELAY_REASONS), untilMs };
      this.#note("attestationDelayed", String(untilMs));
    });
    injectRepeatedly("bridgeFees", () => {
      this.#setFees(random.pick([0, 1.3, 3.9, 6, 29, 40] as const), random.pick([0, 0, 1, 9, 20] as const));
      this.#note("bridgeFees", `${attestation.service.fastFeeBps} ${attestation.service.standardFeeBps}`);
    });
    for (const chain of simWorld.chains) this.#startOn(chain);
  }

  heal(): void {
    const { simWorld, send } = this.#parts;
    const { attestation } = simWorld;
    if (attestation === undefined) return;
    const { faults, scheduler } = simWorld.parts;
    // A hidden transfer keeps the blocks of the rest of the run fast, which is too dear for hours.
    if (faults.rates.has("logsHidden"))
      attestation.downUntilMs = Math.min(attestation.downUntilMs, scheduler.nowMs + HIDDEN_DOWN_MS_MAX);
    this.#setFees(simWorld.parts.plan.bridge?.fastFeeBps ?? 0, 0);
    for (const chain of simWorld.chains) {
      send(chain, [this.#call(chain, bridgeCalls.setBurnLimit(0n))]);
      for (const inbox of this.#refused) send(chain, this.#accept(chain, inbox));
    }
  }

  #startOn(chain: SimChain): void {
    const { injectRepeatedly, random, send, afterUnlessHealed, listInboxes } = this.#parts;
    injectRepeatedly("burnDenied", () => {
      const inbox = random.pick(listInboxes());
      if (inbox === undefined) return;
      this.#refused.add(inbox);
      send(chain, [this.#call(chain, bridgeCalls.deny(inbox))]);
      this.#note("burnDenied", `${chain.plan.name} ${inbox.slice(0, 8)}`);
    });
    injectRepeatedly("inboxBlocked", () => {
      const inbox = random.pick(listInboxes());
      if (inbox === undefined || chain.chain.bridge === undefined) return;
      this.#refused.add(inbox);
      send(chain, [{ to: chain.chain.bridge.token, data: tokenCalls.block(inbox) }]);
      this.#note("inboxBlocked", `${chain.plan.name} ${inbox.slice(0, 8)}`);
      afterUnlessHealed(random.between(20_000, 90_000), () => send(chain, this.#accept(chain, inbox)));
    });
    injectRepeatedly("burnLimited", () => {
      send(chain, [this.#call(chain, bridgeCalls.setBurnLimit(random.pick([1n, 2_000_000n, 20_000_000n] as const)))]);
      this.#note("burnLimited", chain.plan.name);
      const liftMs = random.between(20_000, 200_000);
      afterUnlessHealed(liftMs, () => send(chain, [this.#call(chain, bridgeCalls.setBurnLimit(0n))]));
    });
  }

  #setFees(fastFeeBps: number, standardFeeBps: number): void {
    const { simWorld, send } = this.#parts;
    const service = simWorld.attestation?.service;
    if (service === undefined) return;
    service.fastFeeBps = fastFeeBps;
    service.standardFeeBps = standardFeeBps;
    const minFee = BigInt(standardFeeBps) * MIN_FEE_PER_BPS;
    for (const chain of simWorld.chains) send(chain, [this.#call(chain, bridgeCalls.setMinFee(minFee))]);
  }

  #accept({ chain: { bridge } }: SimChain, inbox: string): OwnerCall[] {
    if (bridge === undefined) return [];
    return [
      { to: bridge.messenger, data: bridgeCalls.allow(inbox) },
      { to: bridge.token, data: tokenCalls.unblock(inbox) },
    ];
  }

  #call({ chain: { bridge } }: SimChain, data: string): OwnerCall {
    return { to: bridge?.messenger ?? "0x", data };
  }

  #note(kind: FaultKind, detail: string): void {
    this.#parts.recordInjected(kind, detail);
  }
}
