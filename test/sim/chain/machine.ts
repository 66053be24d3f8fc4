import type { ChainState } from "./state.ts";

/** What a contract said while it ran. Without `transfer` it is a log that only takes a place in the receipt. */
export type Log = { address: string; transfer?: { from: string; to: string; units: bigint } };

export type MachineCall = { from: string; to: string; data: string };

/** What a call came to: whether it ran through, and the bytes it answered. */
export type CallOutcome = { ok: boolean; output: string };

/** What the contracts at all addresses do. */
export type Contracts = (machine: Machine, call: MachineCall) => CallOutcome;

/** Runs calls on a state, and undoes those that fail. */
export class Machine {
  readonly state: ChainState;
  readonly chainId: bigint;
  readonly #contracts: Contracts;
  #logs: Log[] = [];
  #gasUsed = 0n;

  constructor(parts: { state: ChainState; chainId: bigint; contracts: Contracts }) {
    this.state = parts.state;
    this.chainId = parts.chainId;
    this.#contracts = parts.contracts;
  }

  get gasUsed(): bigint {
    return this.#gasUsed;
  }

  useGas(amount: bigint): void {
    this.#gasUsed += amount;
  }

  log(log: Log): void {
    this.#logs.push(log);
  }

  /** Begins a transaction: no gas used, nothing said yet. */
  beginTransaction(gasUsed: bigint): void {
    this.#logs = [];
    this.#gasUsed = gasUsed;
  }

  /** What the transaction has said. */
  get logs(): readonly Log[] {
    return this.#logs;
  }

  /** Takes back what was said after the first `count` logs. */
  truncateLogs(count: number): void {
    this.#logs.length = count;
  }

  /** Runs a call. One that fails leaves neither changes nor logs behind, only the gas it used. */
  call(call: MachineCall): CallOutcome {
    const mark = this.state.snapshot();
    const said = this.#logs.length;
    const outcome = this.#contracts(this, call);
    if (!outcome.ok) {
      this.state.revertTo(mark);
      this.truncateLogs(said);
    }
    return outcome;
  }
}
