import type { SeededRandom } from "./seededRandom.ts";

/** The largest rate of each fault: per call for call faults, per minute for chain and process faults. */
const RATES_MAX = {
  // Providers (per call)
  rpcError: 0.1,
  rpcTimeout: 0.05,
  answerLost: 0.06,
  rateLimited: 0.06,
  rangeRefused: 0.4,
  nodeLags: 1.5,
  nodeRegresses: 0.5,
  logsOmitted: 0.3,
  logsHidden: 0.5,
  logsMisplaced: 0.3,
  oldReceipts: 0.6,
  /** A node that shows the logs of a transaction does not have its receipt yet. */
  receiptMissing: 0.3,
  /**
   * Where balances show deposits: a payment is of a version that no reader knows yet, and a stranger names the program
   * in one that stays unreadable.
   */
  unreadablePayment: 0.5,
  unreadableStranger: 0.8,
  blockMissing: 0.1,
  liar: 1,
  falseFees: 0.3,
  nodeContradicts: 1,
  providerDown: 1.2,
  chainUnreachable: 0.4,
  // The bridge's service (per call)
  attestationTimeout: 0.1,
  attestationLost: 0.1,
  attestationSlow: 0.3,
  attestationLimited: 0.02,
  attestationError: 0.2,
  attestationUnseen: 0.3,
  attestationMalformed: 0.3,
  attestationMixed: 0.5,
  // The bridge (per minute)
  attestationDown: 0.8,
  attestationDelayed: 1,
  bridgeFees: 1.5,
  burnDenied: 1,
  burnLimited: 0.8,
  inboxBlocked: 0.8,
  // Chains (per minute)
  reorg: 4,
  deepReorg: 1,
  halt: 0.6,
  leap: 0.5,
  forgotten: 2.5,
  feeSpike: 1.2,
  rivalMined: 0.5,
  doubleSpend: 0.8,
  gasEmpty: 0.6,
  foreignNonce: 0.6,
  tokenPaused: 0.5,
  payoutBlocked: 0.8,
  feeBlocked: 2,
  // Processes
  crash: 2,
  crashInTransaction: 0.008,
  crashAfterCommit: 0.01,
  pause: 1.2,
  skew: 1,
  // Database
  dbRefused: 0.02,
  dbCut: 0.02,
  deadlock: 0.02,
  commitLost: 0.02,
  commitUnknown: 0.02,
  /** Per minute: the database's clock, which all processes follow, steps. */
  clockStep: 0.5,
} as const;

export type FaultKind = keyof typeof RATES_MAX;
const faultKinds = Object.keys(RATES_MAX) as FaultKind[];

/** A fault of one database transaction. */
export type DatabaseFault = {
  kind: "dbRefused" | "dbCut" | "deadlock" | "commitLost" | "commitUnknown" | "crashInTransaction" | "crashAfterCommit";
  atStatement: number;
};

const DATABASE_KINDS = [
  "dbRefused",
  "dbCut",
  "deadlock",
  "commitLost",
  "commitUnknown",
  "crashInTransaction",
  "crashAfterCommit",
] as const;

const MINUTE_MS = 60_000;

/** The fault rates of one seed, the draws from them, and the count of each injected fault. */
export class FaultSchedule {
  readonly injected = new Map<FaultKind, number>();
  readonly #rates: ReadonlyMap<FaultKind, number>;
  readonly #random: SeededRandom;
  readonly #onInject: (kind: FaultKind, detail: string) => void;
  #isHealed = false;
  /** While true, no fault is injected. */
  isSuspended = false;

  constructor(
    random: SeededRandom,
    options: { without: ReadonlySet<string>; onStrike: (kind: FaultKind, detail: string) => void },
  ) {
    this.#rates = drawRates(random.derive("rates"), options.without);
    this.#random = random.derive("strikes");
    this.#onInject = options.onStrike;
  }

  get rates(): ReadonlyMap<FaultKind, number> {
    return this.#rates;
  }

  /** Ends all faults. */
  heal(): void {
    this.#isHealed = true;
  }

  get isHealed(): boolean {
    return this.#isHealed;
  }

  rate(kind: FaultKind): number {
    return this.#isHealed || this.isSuspended ? 0 : (this.#rates.get(kind) ?? 0);
  }

  /** Whether this call meets the fault. */
  shouldInject(kind: FaultKind): boolean {
    const rate = this.rate(kind);
    return rate > 0 && this.#random.chance(rate);
  }

  /** The time until the next fault of this kind; undefined when it never happens. */
  nextDelayMs(kind: FaultKind): number | undefined {
    const rate = this.rate(kind);
    return rate === 0 ? undefined : (-Math.log(1 - this.#random.number()) / rate) * MINUTE_MS;
  }

  drawDatabaseFault(): DatabaseFault | undefined {
    for (const kind of DATABASE_KINDS) {
      if (this.shouldInject(kind)) return { kind, atStatement: this.#random.between(1, 8) };
    }
    return undefined;
  }

  recordInjected(kind: FaultKind, detail = ""): void {
    this.injected.set(kind, (this.injected.get(kind) ?? 0) + 1);
    this.#onInject(kind, detail);
  }
}

/** Most seeds have only some kinds of fault, so that each kind also occurs without the others. */
function drawRates(random: SeededRandom, without: ReadonlySet<string>): Map<FaultKind, number> {
  const rates = new Map<FaultKind, number>();
  const share = random.pick([0.15, 0.3, 0.5, 0.8] as const);
  for (const kind of faultKinds) {
    const own = random.derive(kind);
    const isPresent = own.chance(share);
    const level = own.pick([0.1, 0.3, 1] as const);
    if (isPresent && !without.has(kind)) rates.set(kind, RATES_MAX[kind] * level);
  }
  return rates;
}
