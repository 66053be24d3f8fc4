import {
  ProviderFailed,
  type BlockRef,
  type ChainCall,
  type ChainDriver,
  type ChainReceipt,
  type FeeQuote,
  type HeadTag,
  type ChainIdentity,
  type ReceiptPosition,
  type SubmitOutcome,
  type Transfer,
  type TransferScope,
} from "../../src/chain/driver.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import type { ScriptedChain } from "./chain/scriptedChain.ts";
import { openScriptedDriver, type ScriptedDriver } from "./chain/scriptedDriver.ts";
import type { FaultKind, FaultSchedule } from "./faultSchedule.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import { forgedPositions, forgedReceipt, forgeTransfers, type Forgery } from "./forgeTransfers.ts";
import type { SimProcess } from "./simProcess.ts";
import type { SeededRandom } from "./seededRandom.ts";

const TIMEOUT_MS = 10_000;
/** Blocks in one range that a provider answers on a bad day. */
const RANGE_MAX = 20n;
/** How far back a liar remembers what it invented. */
const RECENT_BLOCKS_MAX = 200;

/** One provider of a chain as the network has it: how much of the chain it has heard of, and whether it is reachable. */
export class SimNode {
  readonly chain: ScriptedChain;
  readonly name: string;
  readonly hasLogsBloom: boolean;
  /** Blocks ever made that it knows. */
  knownBlockCount: number;
  downUntilMs = 0;
  /** How much later than usual it hears of a block. */
  lagMs = 0;
  /** Whether it stands for several nodes, some of which are behind. */
  isLoadBalanced = false;
  /** Undefined while it is honest. */
  forgery: Forgery | undefined;
  readonly random: SeededRandom;
  /** Transactions whose logs it, or another node of the chain, has left out already: it happens once, as to a node that still indexes. */
  readonly omittedTxs: Set<string>;
  /** Who is told of its head when that has changed. */
  readonly listeners = new Set<(head: ScriptedBlock) => void>();

  constructor(parts: {
    chain: ScriptedChain;
    name: string;
    hasDigests: boolean;
    random: SeededRandom;
    omitted: Set<string>;
  }) {
    this.chain = parts.chain;
    this.hasLogsBloom = parts.hasDigests;
    this.name = parts.name;
    this.random = parts.random;
    this.omittedTxs = parts.omitted;
    this.knownBlockCount = parts.chain.blockCount;
  }

  /** It hears of the blocks that were made until then. */
  receiveBlocks(made: number): void {
    if (made <= this.knownBlockCount) return;
    this.knownBlockCount = made;
    const head = this.chain.headAtBlockCount(made);
    for (const tell of this.listeners) tell(head);
  }
}

export type ProviderContext = {
  process: SimProcess;
  faults: FaultSchedule;
  /** Throws when this is no moment to call anybody. */
  assertCallAllowed: (what: string) => void;
};

/** A provider as one process reaches it: with delays, refusals, lost answers, and answers that are old or not whole. */
export class SimProvider implements ChainDriver {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #node: SimNode;
  readonly #context: ProviderContext;
  #visibleBlockCount = 0;
  readonly #driver: ScriptedDriver;

  constructor(node: SimNode, context: ProviderContext) {
    this.caip2 = node.chain.caip2;
    this.name = node.name;
    this.#node = node;
    this.#context = context;
    this.#driver = openScriptedDriver(node.chain, {
      name: node.name,
      knownBlockCount: () => this.#visibleBlockCount,
      hasLogsBloom: node.hasLogsBloom,
    });
  }

  identify(): Promise<ChainIdentity> {
    return this.#request("identify", (driver) => driver.identify());
  }

  head(tag: HeadTag): Promise<BlockRef> {
    return this.#request(`head ${tag}`, (driver) => driver.head(tag));
  }

  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    return this.#request("block", async (driver) =>
      this.#shouldInject("blockMissing") ? undefined : driver.block(at),
    );
  }

  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return this.#request("transfers", async (driver) => {
      const isLong = "fromBlock" in scope && scope.toBlock - scope.fromBlock >= RANGE_MAX;
      if (isLong && this.#shouldInject("rangeRefused")) {
        throw new ProviderFailed("range_too_large", `${this.name} answered: range too large`);
      }
      const transfers = this.#omitSomeLogs(await driver.transfers(scope, tokens, parties));
      const { forgery } = this.#node;
      if (forgery === undefined) return transfers;
      return forgeTransfers(transfers, forgery, this.#blocksIn(scope)).filter(
        ({ token, from, to }) => tokens.includes(token) && (!parties || parties.includes(from) || parties.includes(to)),
      );
    });
  }

  mayContainTransfers(block: BlockRef, tokens: readonly string[]): boolean {
    return this.#driver.mayContainTransfers(block, tokens);
  }

  receiptPositions(chainTxs: readonly string[]): Promise<ReceiptPosition[]> {
    return this.#request("positions", async (driver) => {
      const positions = await driver.receiptPositions(chainTxs);
      const told = positions.map((position) => this.#stalePosition(position) ?? position);
      return this.#node.forgery ? [...told, ...forgedPositions(chainTxs, this.#recentBlocks())] : told;
    });
  }

  receipt(chainTx: string): Promise<ChainReceipt | undefined> {
    return this.#request("receipt", async (driver) => {
      const receipt = await driver.receipt(chainTx);
      return receipt ?? (this.#node.forgery && forgedReceipt(chainTx, this.#recentBlocks()));
    });
  }

  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    return this.#request("balances", (driver) => driver.balances(token, owners, at));
  }

  tokenDecimals(token: string): Promise<number> {
    return this.#request("tokenDecimals", (driver) => driver.tokenDecimals(token));
  }

  hasCode(address: string): Promise<boolean> {
    return this.#request("hasCode", (driver) => driver.hasCode(address));
  }

  nonce(address: string): Promise<bigint> {
    return this.#request("nonce", (driver) => driver.nonce(address));
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.#request("nativeBalance", (driver) => driver.nativeBalance(address));
  }

  fees(): Promise<FeeQuote> {
    return this.#request("fees", (driver) => driver.fees());
  }

  estimateGas(call: ChainCall): Promise<bigint> {
    return this.#request("estimateGas", (driver) => driver.estimateGas(call));
  }

  call(call: ChainCall): Promise<string> {
    return this.#request("call", (driver) => driver.call(call));
  }

  /** Never throws, as a driver's submit does not: what went wrong on the way is `unknown`, whether or not the bytes arrived. */
  async submit(rawTransaction: string): Promise<SubmitOutcome> {
    try {
      return await this.#request("submit", (driver) => driver.submit(rawTransaction));
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      return { kind: "unknown", reason: error.message };
    }
  }

  async #request<T>(what: string, work: (driver: ChainDriver) => Promise<T>): Promise<T> {
    const { process, assertCallAllowed } = this.#context;
    const node = this.#node;
    assertCallAllowed(what);
    await process.wait(5 + process.random.number() * 60);
    if (node.downUntilMs > process.scheduler.nowMs) throw new ProviderFailed("unreachable", `${this.name} is down`);
    if (this.#shouldInject("rpcError")) throw new ProviderFailed("unreachable", `${this.name} was not reached`);
    if (this.#shouldInject("rateLimited")) throw new ProviderFailed("rate_limited", `${this.name} answered HTTP 429`);
    if (this.#shouldInject("rpcTimeout")) return this.#failWithTimeout();
    this.#visibleBlockCount = node.knownBlockCount;
    if (node.isLoadBalanced && this.#shouldInject("nodeRegresses"))
      this.#visibleBlockCount -= process.random.between(1, 4);
    const answer = await work(this.#driver);
    if (this.#shouldInject("answerLost")) return this.#failWithTimeout();
    // What was done may be heard of late, or never, because the process ends meanwhile. Of a mere answer once in a while is enough.
    if (what === "submit" || process.random.chance(0.2)) await process.wait(5 + process.random.number() * 60);
    return answer;
  }

  #blocksIn(scope: TransferScope): ScriptedBlock[] {
    const { chain } = this.#node;
    if ("blockHash" in scope) return [chain.blockByHash(scope.blockHash)].filter((block) => block !== undefined);
    return this.#recentBlocks().filter(({ number }) => number >= scope.fromBlock && number <= scope.toBlock);
  }

  /** The last blocks that this node knows. */
  #recentBlocks(): ScriptedBlock[] {
    const { chain } = this.#node;
    const head = chain.headAtBlockCount(this.#visibleBlockCount);
    const numbers = Array.from({ length: RECENT_BLOCKS_MAX }, (_, index) => head.number - BigInt(index));
    return numbers.map((number) => chain.blockAt(number, head)).filter((block) => block !== undefined);
  }

  async #failWithTimeout(): Promise<never> {
    await this.#context.process.wait(TIMEOUT_MS);
    throw new ProviderFailed("timeout", `${this.name} took too long`);
  }

  #shouldInject(kind: FaultKind): boolean {
    const isStruck = this.#context.faults.shouldInject(kind);
    if (isStruck) this.#context.faults.recordInjected(kind, this.name);
    return isStruck;
  }

  /** Leaves out the logs of some transactions, or of all: with HTTP 200, as providers do. */
  #omitSomeLogs(transfers: Transfer[]): Transfer[] {
    const { omittedTxs, random } = this.#node;
    const fresh = [...new Set(transfers.map(({ chainTx }) => chainTx))].filter((chainTx) => !omittedTxs.has(chainTx));
    if (fresh.length === 0 || !this.#shouldInject("logsOmitted")) return transfers;
    const left = new Set(random.chance(0.5) ? fresh : [random.pick(fresh)]);
    for (const chainTx of left) if (chainTx !== undefined) omittedTxs.add(chainTx);
    return transfers.filter(({ chainTx, logIndex }) => !left.has(chainTx) || (left.size === 1 && logIndex % 2 === 1));
  }

  /** The receipt of a block that was left, where there is one. */
  #stalePosition(position: ReceiptPosition): ReceiptPosition | undefined {
    const old = this.#node.chain.receiptsOf(position.chainTx).find(({ blockHash }) => blockHash !== position.blockHash);
    const [first] = old?.logs ?? [];
    if (!old || !first || !this.#shouldInject("oldReceipts")) return undefined;
    const { chainTx, blockHash, succeeded } = old;
    return { chainTx, blockHash, succeeded, logIndexFirst: first.logIndex };
  }
}
