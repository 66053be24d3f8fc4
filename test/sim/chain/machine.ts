import type { ChainState } from "./state.ts";

/**
 * A log of a contract. Without `transfer` it only takes a position in the receipt. `starvedInbox` failed for lack of
 * gas. `sent` is a message of the bridge, `topics` and `data` are the bytes of its other events.
 */
export type Log = {
  address: string;
  transfer?: { from: string; to: string; units: bigint };
  starvedInbox?: string;
  sent?: string;
  topics?: readonly string[];
  data?: string;
};

export type MachineCall = { from: string; to: string; data: string };

/** The result of a call: whether it succeeded, and its output. */
export type CallOutcome = { ok: boolean; output: string };

/** The code of all contracts, by address. */
export type Contracts = (machine: Machine, call: MachineCall) => CallOutcome;

const UNLIMITED_GAS = 10n ** 12n;

/** Runs calls on a state, and reverts those that fail. */
export class Machine {
  readonly state: ChainState;
  readonly chainId: bigint;
  /** Of the block in which the calls run. */
  blockNumber = 0n;
  readonly #contracts: Contracts;
  #logs: Log[] = [];
  #gasUsed = 0n;
  #gasLimit = UNLIMITED_GAS;

  constructor(parts: { state: ChainState; chainId: bigint; contracts: Contracts }) {
    this.state = parts.state;
    this.chainId = parts.chainId;
    this.#contracts = parts.contracts;
  }

  get gasUsed(): bigint {
    return this.#gasUsed;
  }

  /** What the transaction's limit leaves. Negative when a call has used more; the transaction then fails at its end. */
  get gasLeft(): bigint {
    return this.#gasLimit - this.#gasUsed;
  }

  useGas(amount: bigint): void {
    this.#gasUsed += amount;
  }

  log(log: Log): void {
    this.#logs.push(log);
  }

  /** Begins a transaction with its gas, its gas limit and no logs. */
  beginTransaction(gasUsed: bigint, gasLimit = UNLIMITED_GAS): void {
    this.#logs = [];
    this.#gasUsed = gasUsed;
    this.#gasLimit = gasLimit;
  }

  /** The logs of the transaction. */
  get logs(): readonly Log[] {
    return this.#logs;
  }

  /** Removes all logs after the first `count`. */
  truncateLogs(count: number): void {
    this.#logs.length = count;
  }

  /** Runs a call. A failed call changes nothing and leaves no logs; it only uses gas. */
  call(call: MachineCall): CallOutcome {
    const mark = this.state.snapshot();
    const logCount = this.#logs.length;
    const outcome = this.#contracts(this, call);
    if (!outcome.ok) {
      this.state.revertTo(mark);
      this.truncateLogs(logCount);
    }
    return outcome;
  }
}
