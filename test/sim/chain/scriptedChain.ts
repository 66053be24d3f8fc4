import { hubAddress } from "@tributary/inbox/hub";
import type { SubmitOutcome } from "../../../src/chain/evm/node.ts";
import { caip2, type Caip2 } from "../../../src/kernel/caip.ts";
import type { BridgeSpec } from "./bridge.ts";
import { createContracts } from "./contracts.ts";
import { Machine, type MachineCall } from "./machine.ts";
import type { OneShotBytes } from "../oneShot/oneShotBytes.ts";
import { TransactionPool, type SelectTransaction } from "./transactionPool.ts";
import { codeKey, nonceKey, ChainState, unitsKey, weiKey } from "./state.ts";
import { tokenCalls, type TokenSpec } from "./token.ts";
import {
  hashOf,
  parseSignedTransaction,
  type ScriptedBlock,
  type ScriptedCall,
  type ScriptedReceipt,
  type ScriptedTransaction,
} from "./transaction.ts";

export type ScriptedChainOptions = {
  chainId: number;
  tokens: readonly TokenSpec[];
  bridge?: BridgeSpec | undefined;
  /** Distinguishes two chains of one id. */
  salt?: string;
  /** Unix seconds of the genesis block. */
  startAtS?: number;
  blockS?: number;
  repeatsTimes?: boolean;
  /** The distance of `safe` and `finalized` from the head; null for a chain without these tags. */
  finalityLag?: { safe: number; finalized: number } | null;
  baseFee?: bigint;
  hasHub?: boolean;
  /** Balances at genesis. */
  units?: readonly { token: string; owner: string; units: bigint }[];
  wei?: readonly { address: string; wei: bigint }[];
};

export type TransactionRequest = {
  from: string;
  calls: readonly ScriptedCall[];
  oddBlockCalls?: readonly ScriptedCall[];
  ignoresCallFailures?: boolean;
  reverts?: boolean;
  /** Default: the sender's next nonce. A used nonce competes with the pooled transaction. */
  nonce?: bigint;
  /** Per gas. A replacement must offer more. */
  tip?: bigint;
};

export type MineOptions = { selectTransaction?: SelectTransaction; atS?: number; transactionsMax?: number };

const GWEI = 1_000_000_000n;
const TRANSACTION_GAS = 21_000n;
const BYTE_GAS = 12n;
const GAS_MAX = 16_000_000n;
const ESTIMATE_STEP = 300_000n;
const ESTIMATE_STEPS = 5;
const UNLIMITED_FEE = 10n ** 30n;
const ONE_SHOT_FEE = 200n * GWEI;

/**
 * A chain in memory, in one thread: accounts, tokens, the hub, a pool of transactions, blocks and branches. Nothing
 * happens by itself, and the same steps give the same hashes. Nodes add their own views of it.
 */
export class ScriptedChain {
  readonly caip2: Caip2;
  readonly chainId: number;
  readonly tokens: readonly TokenSpec[];
  readonly bridge: BridgeSpec | undefined;
  readonly pool = new TransactionPool();
  readonly finalityLag: { safe: number; finalized: number } | null;
  baseFee: bigint;
  readonly state = new ChainState();
  readonly #machine: Machine;
  readonly #salt: string;
  readonly #blockS: number;
  readonly #stepS: number;
  /** The canonical chain, by number. */
  readonly #canonical: ScriptedBlock[] = [];
  readonly #blocks = new Map<string, ScriptedBlock>();
  readonly #receipts = new Map<string, ScriptedReceipt[]>();
  /** Each head in order, with the number of blocks that existed at that time. */
  readonly #heads: { creationIndex: number; block: ScriptedBlock }[] = [];
  readonly #signed = new Map<string, (ScriptedTransaction & { chainId: number }) | undefined>();
  #blockCount = 0;
  #sent = 0;

  constructor(options: ScriptedChainOptions) {
    const { chainId, tokens, bridge, salt = "", startAtS = 1_793_491_200, blockS = 2, baseFee = GWEI } = options;
    this.caip2 = caip2("eip155", String(chainId));
    this.chainId = chainId;
    this.tokens = tokens;
    this.bridge = bridge;
    this.finalityLag = options.finalityLag === undefined ? { safe: 1, finalized: 2 } : options.finalityLag;
    this.baseFee = baseFee;
    this.#salt = salt;
    [this.#blockS, this.#stepS] = options.repeatsTimes === true ? [0, 0] : [blockS, 1];
    const contracts = createContracts(tokens, bridge);
    this.#machine = new Machine({ state: this.state, chainId: BigInt(chainId), contracts });
    this.#writeGenesis(options);
    this.#mineBlock({ atS: startAtS });
    this.#publishHead();
  }

  get head(): ScriptedBlock {
    return this.#headBlock();
  }

  /** The number of blocks ever created. A node knows a prefix of them. */
  get blockCount(): number {
    return this.#blockCount;
  }

  /** The head at the time when `made` blocks existed. */
  headAtBlockCount(made: number): ScriptedBlock {
    return this.#heads.findLast(({ creationIndex }) => creationIndex <= made)?.block ?? this.#genesis();
  }

  blockByHash(hash: string): ScriptedBlock | undefined {
    return this.#blocks.get(hash);
  }

  /** The block of a number on the branch that ends with `head`, by default on the canonical chain. */
  blockAt(number: bigint, head: ScriptedBlock = this.#headBlock()): ScriptedBlock | undefined {
    if (number < 0n || number > head.number) return undefined;
    let block: ScriptedBlock | undefined = head;
    while (block && block.number > number && this.#canonical[Number(block.number)] !== block) {
      block = this.#blocks.get(block.parentHash);
    }
    return block && block.number > number ? this.#canonical[Number(number)] : block;
  }

  isCanonical(hash: string): boolean {
    const block = this.#blocks.get(hash);
    return block !== undefined && this.#canonical[Number(block.number)] === block;
  }

  /** All receipts of a transaction on any branch, the latest last. */
  receiptsOf(chainTx: string): readonly ScriptedReceipt[] {
    return this.#receipts.get(chainTx) ?? [];
  }

  /** The state's mark after a block. For a replaced block, the mark after the last common ancestor. */
  stateAfter(block: ScriptedBlock): number {
    let shared: ScriptedBlock | undefined = block;
    while (shared && this.#canonical[Number(shared.number)] !== shared) shared = this.#blocks.get(shared.parentHash);
    const next = this.#canonical[Number(shared?.number ?? 0n) + 1];
    return next?.stateBefore ?? this.state.snapshot();
  }

  unitsOf(token: string, owner: string): bigint {
    return this.state.get(unitsKey(token, owner));
  }

  weiOf(address: string): bigint {
    return this.state.get(weiKey(address));
  }

  /** The nonce that the next block expects of an account. */
  nonceOf(address: string): bigint {
    return this.state.get(nonceKey(address));
  }

  /** Adds a transaction of any account to the pool and returns its hash. */
  send(sending: TransactionRequest): string {
    this.#sent += 1;
    const { from: sender, calls, oddBlockCalls, ignoresCallFailures = false, reverts = false, tip = GWEI } = sending;
    const nonce = sending.nonce ?? this.#nextNonce(sender);
    const transaction: ScriptedTransaction = {
      chainTx: hashOf(this.caip2, this.#salt, "tx", this.#sent),
      sender,
      nonce,
      calls,
      ...(oddBlockCalls === undefined ? {} : { oddBlockCalls }),
      ignoresCallFailures,
      reverts,
      gasLimit: GAS_MAX,
      maxFeePerGas: UNLIMITED_FEE,
      maxPriorityFeePerGas: tip,
      paysGas: false,
    };
    this.pool.forceAdd(transaction);
    return transaction.chainTx;
  }

  /** Sends one token transfer in its own transaction. */
  pay(payment: { token: string; from: string; to: string; units: bigint }): string {
    const { token, from, to, units } = payment;
    return this.send({ from, calls: [{ to: token, data: tokenCalls.transfer(to, units) }] });
  }

  /** A node's answer to signed bytes. */
  async submit(raw: string): Promise<SubmitOutcome> {
    if (!this.#signed.has(raw)) this.#signed.set(raw, await parseSignedTransaction(raw));
    const transaction = this.#signed.get(raw);
    if (transaction?.chainId !== this.chainId) return { kind: "unknown", reason: "invalid transaction" };
    if (transaction.nonce < this.state.get(nonceKey(transaction.sender))) return { kind: "nonce_used" };
    if (this.pool.get(transaction.chainTx) && this.pool.isCurrent(transaction)) return { kind: "known" };
    if (this.state.get(weiKey(transaction.sender)) < transaction.gasLimit * transaction.maxFeePerGas)
      return { kind: "no_funds" };
    return this.pool.add(transaction);
  }

  /** A node's answer to one-shot bytes. Each has its own sender, so none waits for another and none is mined twice. */
  sendOneShot(raw: string): "taken" | "expired" | "no_funds" {
    const { payer, call, lastBlock } = JSON.parse(raw) as OneShotBytes;
    const chainTx = hashOf("one-shot", raw);
    const transaction: ScriptedTransaction = {
      chainTx,
      sender: `0x${chainTx.slice(2, 42)}`,
      nonce: 0n,
      calls: [call],
      ignoresCallFailures: false,
      reverts: false,
      gasLimit: GAS_MAX,
      maxFeePerGas: ONE_SHOT_FEE,
      maxPriorityFeePerGas: GWEI,
      paysGas: true,
      feePayer: payer,
      lastBlock: BigInt(lastBlock),
    };
    if (this.head.number >= BigInt(lastBlock)) return "expired";
    if (this.state.get(nonceKey(transaction.sender)) > 0n) return "taken";
    if (this.state.get(weiKey(payer)) < GAS_MAX * ONE_SHOT_FEE) return "no_funds";
    this.pool.forceAdd(transaction);
    return "taken";
  }

  /** Mines a block of pooled transactions. */
  mine(mining: MineOptions = {}): ScriptedBlock {
    const block = this.#mineBlock(mining);
    this.#publishHead();
    return block;
  }

  /**
   * Replaces the last `depth` blocks with a branch that is `longerBy` (default 1) blocks longer. Their transactions
   * return to the pool, except those for which `isLost` is true. `selectTransaction` decides their order. The branch
   * shows only when it is longer.
   */
  reorg(depth: number, options: ReorgOptions = {}): ScriptedBlock {
    const replaced = this.#canonical.splice(Math.max(1, this.#canonical.length - depth));
    const [first] = replaced;
    if (first) this.state.revertTo(first.stateBefore);
    for (const block of replaced) {
      for (const transaction of block.transactions) {
        if (!options.isLost?.(transaction)) this.pool.forceAdd(transaction);
      }
    }
    options.onBranch?.();
    const { longerBy = 1 } = options;
    for (let mined = 0; mined < replaced.length + longerBy; mined += 1) this.#mineBlock(options);
    this.#publishHead();
    return this.#headBlock();
  }

  /** Runs a call on the present state and discards its changes. */
  simulateCall(call: MachineCall, gasLimit?: bigint): { ok: boolean; output: string; gasUsed: bigint } {
    const mark = this.state.snapshot();
    this.#machine.blockNumber = this.head.number;
    this.#machine.beginTransaction(TRANSACTION_GAS + BigInt(call.data.length / 2) * BYTE_GAS, gasLimit);
    const { ok, output } = this.#machine.call(call);
    this.state.revertTo(mark);
    return { ok: ok && this.#machine.gasLeft >= 0n, output, gasUsed: this.#machine.gasUsed };
  }

  /** The lowest tried gas limit at which the call succeeds, if any. Like a node, it sees no item inside a batch. */
  estimateGas(call: MachineCall): bigint | undefined {
    const { gasUsed } = this.simulateCall(call);
    return Array.from({ length: ESTIMATE_STEPS }, (_, step) => gasUsed + BigInt(step) * ESTIMATE_STEP).find(
      (gasLimit) => this.simulateCall(call, gasLimit).ok,
    );
  }

  #writeGenesis({ tokens, hasHub = true, units = [], wei = [] }: ScriptedChainOptions): void {
    for (const token of tokens) this.state.set(codeKey(token.address), 1n);
    if (hasHub) this.state.set(codeKey(hubAddress), 1n);
    for (const held of units) this.state.set(unitsKey(held.token, held.owner), held.units);
    for (const held of wei) this.state.set(weiKey(held.address), held.wei);
  }

  #nextNonce(sender: string): bigint {
    const waiting = this.pool.pending.filter((transaction) => transaction.sender === sender);
    return waiting.reduce((next, { nonce }) => (nonce >= next ? nonce + 1n : next), this.state.get(nonceKey(sender)));
  }

  #mineBlock({
    selectTransaction = this.pool.selectHighestTip,
    atS,
    transactionsMax = 200,
  }: MineOptions): ScriptedBlock {
    const parent = this.#canonical.at(-1);
    const number = parent === undefined ? 0n : parent.number + 1n;
    this.#blockCount += 1;
    const block = {
      number,
      hash: hashOf(this.caip2, this.#salt, "block", number, this.#blockCount),
      parentHash: parent?.hash ?? `0x${"0".repeat(64)}`,
      timestampS: Math.max(atS ?? 0, (parent?.timestampS ?? 0) + (atS === undefined ? this.#blockS : this.#stepS)),
      baseFee: this.baseFee,
      creationIndex: this.#blockCount,
      stateBefore: this.state.snapshot(),
      transactions: [] as ScriptedTransaction[],
      receipts: [] as ScriptedReceipt[],
    };
    for (let taken = 0; taken < transactionsMax; taken += 1) {
      const next = selectTransaction(this.pool.pending.filter((transaction) => this.#isMinable(transaction)));
      if (next === undefined) break;
      this.pool.drop(next.chainTx);
      this.pool.dropBelowNonce(next.sender, next.nonce + 1n);
      const receipt = this.#execute(next, block);
      block.transactions.push(next);
      block.receipts.push(receipt);
      this.#receipts.set(next.chainTx, [...this.receiptsOf(next.chainTx), receipt]);
    }
    this.#canonical.push(block);
    this.#blocks.set(block.hash, block);
    for (const { chainTx, lastBlock } of this.pool.pending)
      if (lastBlock !== undefined && lastBlock <= number) this.pool.drop(chainTx);
    return block;
  }

  #isMinable(transaction: ScriptedTransaction): boolean {
    if (transaction.nonce !== this.state.get(nonceKey(transaction.sender))) return false;
    if (transaction.maxFeePerGas < this.baseFee) return false;
    if (transaction.lastBlock !== undefined && BigInt(this.#canonical.length) > transaction.lastBlock) return false;
    if (!transaction.paysGas) return true;
    return (
      this.state.get(weiKey(transaction.feePayer ?? transaction.sender)) >=
      transaction.gasLimit * transaction.maxFeePerGas
    );
  }

  #execute(transaction: ScriptedTransaction, block: ScriptedBlock): ScriptedReceipt {
    const { state } = this;
    const machine = this.#machine;
    state.set(nonceKey(transaction.sender), transaction.nonce + 1n);
    const mark = state.snapshot();
    const calls = block.number % 2n === 1n ? (transaction.oddBlockCalls ?? transaction.calls) : transaction.calls;
    const bytes = calls.reduce((sum, call) => sum + (call.data ?? "0x").length / 2, 0);
    machine.blockNumber = block.number;
    machine.beginTransaction(TRANSACTION_GAS + BigInt(Math.ceil(bytes)) * BYTE_GAS, transaction.gasLimit);
    const succeeded = this.#runCalls(transaction, calls) && machine.gasUsed <= transaction.gasLimit;
    const gasUsed = machine.gasUsed > transaction.gasLimit ? transaction.gasLimit : machine.gasUsed;
    if (!succeeded) {
      state.revertTo(mark);
      machine.truncateLogs(0);
    }
    if (transaction.paysGas)
      state.add(weiKey(transaction.feePayer ?? transaction.sender), -(gasUsed * pricePerGas(transaction, block)));
    const first = block.receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
    return {
      chainTx: transaction.chainTx,
      sender: transaction.sender,
      index: block.receipts.length,
      blockNumber: block.number,
      blockHash: block.hash,
      succeeded,
      gasUsed,
      logs: machine.logs.map((log, index) => ({ ...log, logIndex: first + index })),
    };
  }

  #runCalls(transaction: ScriptedTransaction, calls: readonly ScriptedCall[]): boolean {
    for (const { to, data = "0x", wei = 0n } of calls) {
      const { ok } = this.#machine.call({ from: transaction.sender, to, data });
      if (!ok && !transaction.ignoresCallFailures) return false;
      if (wei !== 0n) this.state.add(weiKey(to), wei);
    }
    return !transaction.reverts;
  }

  #publishHead(): void {
    this.#heads.push({ creationIndex: this.#blockCount, block: this.#headBlock() });
  }

  #headBlock(): ScriptedBlock {
    return this.#canonical.at(-1) ?? this.#genesis();
  }

  #genesis(): ScriptedBlock {
    const [genesis] = this.#canonical;
    if (!genesis) throw new Error("the chain has no block yet");
    return genesis;
  }
}

export type ReorgOptions = MineOptions & {
  longerBy?: number;
  isLost?: (transaction: ScriptedTransaction) => boolean;
  /** Called between removing old blocks and mining new ones, so that a payer can replace a transaction. */
  onBranch?: () => void;
};

function pricePerGas(transaction: ScriptedTransaction, block: ScriptedBlock): bigint {
  const offered = block.baseFee + transaction.maxPriorityFeePerGas;
  return offered < transaction.maxFeePerGas ? offered : transaction.maxFeePerGas;
}
