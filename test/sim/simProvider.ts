import {
  ProviderFailed,
  type BlockRange,
  type BlockRef,
  type BlocksWithTransfers,
  type ChainIdentity,
  type ChainReader,
  type HeadTag,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "../../src/chain/reader.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import type { ScriptedChain } from "./chain/scriptedChain.ts";
import type { NodeView, ScriptedReader, TransferNaming } from "./chain/scriptedReader.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import type { FaultKind, FaultSchedule } from "./faultSchedule.ts";
import { forgedProofs, forgeTransfers, type Forgery } from "./forgeTransfers.ts";
import type { SeededRandom } from "./seededRandom.ts";
import type { SimProcess } from "./simProcess.ts";

const TIMEOUT_MS = 10_000;
/** The largest range that a limited provider answers. */
const RANGE_MAX = 20n;
/** How long a single provider hides logs. */
const HIDDEN_MS = 600_000;
const PAYER_PREFIX = "0xa00";
export const isPayer = (address: string): boolean => address.startsWith(PAYER_PREFIX);
const MISPLACED_BLOCKS_MAX = 15;
/** One block in this many is lacking. */
const LACKING_INTERVAL = 5n;
/** How many past blocks a lying provider remembers its forgeries for. */
const RECENT_BLOCKS_MAX = 200;

/** How its chain's nodes differ from others. */
type NodeTraits = Required<Pick<NodeView, "hasDigests" | "hasForeignDigests" | "isPruned" | "answersTogether">>;

/** One provider of a chain: its share of the known blocks, and its reachability. */
export class SimNode {
  readonly chain: ScriptedChain;
  readonly name: string;
  /** How its kind identifies transfers. */
  readonly naming: TransferNaming;
  readonly traits: NodeTraits;
  /** The number of blocks, in order of creation, that it knows. */
  knownBlockCount: number;
  downUntilMs = 0;
  /** The same, after the other faults have ended as well. */
  awayUntilMs = 0;
  /** Its additional delay for each block. */
  lagMs = 0;
  /** Whether several nodes answer behind its name, some of them behind. */
  isLoadBalanced = false;
  /** Undefined while it is honest. */
  forgery: Forgery | undefined;
  readonly random: SeededRandom;
  /** Transactions whose logs a node of this chain has left out once, as a node that still indexes does. */
  readonly omittedTxs: Set<string>;
  /**
   * Until when it leaves out the logs of a transaction each time; undefined for a transaction whose logs it never
   * hides.
   */
  readonly hiddenTxs = new Map<string, number | undefined>();
  /** What no reader of this release can parse, at every node of the chain. */
  readonly unreadable: UnreadableOnChain;
  /** Whether it is the only provider, which hides logs at every reading for a while. */
  readonly isAlone: boolean;
  /** Whether it lacks some blocks below its head permanently, so that its answers never fit together. */
  lacksBlocks = false;
  /** Called when its head changes. */
  readonly listeners = new Set<(head: ScriptedBlock) => void>();

  constructor(parts: {
    chain: ScriptedChain;
    naming: TransferNaming;
    name: string;
    traits: NodeTraits;
    random: SeededRandom;
    omitted: Set<string>;
    unreadable: UnreadableOnChain;
    isAlone: boolean;
  }) {
    this.unreadable = parts.unreadable;
    this.chain = parts.chain;
    this.naming = parts.naming;
    const { hasDigests, hasForeignDigests, isPruned, answersTogether } = parts.traits;
    this.traits = { hasDigests, hasForeignDigests, isPruned, answersTogether };
    this.name = parts.name;
    this.random = parts.random;
    this.omittedTxs = parts.omitted;
    this.isAlone = parts.isAlone;
    this.knownBlockCount = parts.chain.blockCount;
  }

  isDown(nowMs: number): boolean {
    return Math.max(this.downUntilMs, this.awayUntilMs) > nowMs;
  }

  /** Raises its knowledge to the first `made` blocks. */
  receiveBlocks(made: number): void {
    if (made <= this.knownBlockCount) return;
    this.knownBlockCount = made;
    const head = this.chain.headAtBlockCount(made);
    for (const listener of this.listeners) listener(head);
  }
}

/** By chain, because its nodes hold the same transactions. */
export type UnreadableOnChain = {
  /** Until when a payment cannot be read; undefined for one that always can. */
  payments: Map<string, number | undefined>;
  /** The numbers of blocks in which a stranger names the program and moves nothing, by their hashes. */
  strangers: Map<string, bigint>;
  /** Until when no provider lists the transfers of an inbox. */
  inboxes: Map<string, number>;
};

export type ProviderContext = {
  process: SimProcess;
  faults: FaultSchedule;
  /** Throws when the process must not call a provider. */
  assertCallAllowed: (call: string) => void;
};

/** A provider as one process reaches it: with delays, refusals, lost answers, and stale or incomplete answers. */
export class SimProvider<Scripted extends ScriptedReader> implements ChainReader {
  readonly caip2: Caip2;
  readonly name: string;
  readonly mintSender: string | undefined;
  readonly #node: SimNode;
  readonly #context: ProviderContext;
  #visibleBlockCount = 0;
  readonly #scripted: Scripted;

  constructor(node: SimNode, context: ProviderContext, open: (chain: ScriptedChain, view: NodeView) => Scripted) {
    this.caip2 = node.chain.caip2;
    this.name = node.name;
    this.mintSender = node.chain.bridge && `0x${"0".repeat(40)}`;
    this.#node = node;
    this.#context = context;
    this.#scripted = open(node.chain, {
      name: node.name,
      knownBlockCount: () => this.#visibleBlockCount,
      ...node.traits,
    });
  }

  identify(): Promise<ChainIdentity> {
    return this.request("identify", (scripted) => scripted.identify());
  }

  head(tag: HeadTag): Promise<BlockRef> {
    return this.request(`head ${tag}`, (scripted) => scripted.head(tag));
  }

  block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    return this.request("block", async (scripted) => {
      if (this.shouldInject("blockMissing")) return undefined;
      const block = await scripted.block(at);
      return block && this.#isLacking(block.number) ? undefined : block;
    });
  }

  transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return this.request("transfers", async (scripted) => {
      const isLong = "fromBlock" in scope && scope.toBlock - scope.fromBlock >= RANGE_MAX;
      if (isLong && this.shouldInject("rangeRefused")) {
        throw new ProviderFailed("range_too_large", `${this.name} answered: range too large`);
      }
      if (this.#blocksIn(scope).some(({ number }) => this.#isLacking(number)))
        throw new ProviderFailed("unknown_block", `${this.name} answered: unknown block`);
      const seen = this.#hideLogs(await scripted.transfers(scope, tokens, parties));
      const transfers = this.#misplaceLogs(this.#omitSomeLogs(seen));
      return this.#withForged(transfers, { scope, tokens, parties });
    });
  }

  blocksWithTransfers(range: BlockRange, tokens: readonly string[]): Promise<BlocksWithTransfers | undefined> {
    return this.request("blocks with transfers", async (scripted) => {
      const read = await scripted.blocksWithTransfers(range, tokens);
      if (read === undefined) return undefined;
      if (read.blocks.some(({ number }) => this.#isLacking(number)))
        throw new ProviderFailed("unknown_block", `${this.name} answered: unknown block`);
      const transfers = this.#misplaceLogs(this.#omitSomeLogs(this.#hideLogs(read.transfers)));
      return { ...read, transfers: this.#withForged(transfers, { scope: range, tokens }) };
    });
  }

  mayContainTransfers(block: BlockRef, tokens: readonly string[]): boolean {
    return this.#scripted.mayContainTransfers(block, tokens);
  }

  proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return this.request("proofs", async (scripted) => {
      const proofs = await scripted.proofs(chainTxs);
      const known = proofs.filter(() => !this.shouldInject("receiptMissing"));
      const replies = known.map((proof) => this.#staleProof(proof) ?? proof);
      return this.#node.forgery ? [...replies, ...forgedProofs(chainTxs, this.recentBlocks())] : replies;
    });
  }

  balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    return this.request("balances", (scripted) => scripted.balances(token, owners, at));
  }

  tokenDecimals(token: string): Promise<number | undefined> {
    return this.request("tokenDecimals", (scripted) => scripted.tokenDecimals(token));
  }

  protected async request<T>(call: string, work: (scripted: Scripted) => Promise<T>, isSending = false): Promise<T> {
    const { process, assertCallAllowed } = this.#context;
    const node = this.#node;
    assertCallAllowed(call);
    await process.wait(5 + process.random.number() * 60);
    if (node.isDown(process.scheduler.nowMs)) throw new ProviderFailed("unreachable", `${this.name} is down`);
    if (this.shouldInject("rpcError")) throw new ProviderFailed("unreachable", `${this.name} was not reached`);
    if (this.shouldInject("rateLimited")) throw new ProviderFailed("rate_limited", `${this.name} answered HTTP 429`);
    if (this.shouldInject("rpcTimeout")) return this.#failWithTimeout();
    this.#visibleBlockCount = node.knownBlockCount;
    if (node.isLoadBalanced && this.shouldInject("nodeRegresses"))
      this.#visibleBlockCount -= process.random.between(1, 4);
    const answer = await work(this.#scripted);
    if (this.shouldInject("answerLost")) return this.#failWithTimeout();
    // A submission's answer may be late, or lost when the process ends meanwhile. For reads, an occasional delay
    // suffices.
    if (isSending || process.random.chance(0.2)) await process.wait(5 + process.random.number() * 60);
    return answer;
  }

  #withForged(
    transfers: Transfer[],
    {
      scope,
      tokens,
      parties,
    }: { scope: TransferScope; tokens: readonly string[]; parties?: readonly string[] | undefined },
  ): Transfer[] {
    const { forgery } = this.#node;
    if (forgery === undefined) return transfers;
    return forgeTransfers(transfers, forgery, this.#blocksIn(scope)).filter(
      ({ token, from, to }) => tokens.includes(token) && (!parties || parties.includes(from) || parties.includes(to)),
    );
  }

  #blocksIn(scope: TransferScope): ScriptedBlock[] {
    const { chain } = this.#node;
    if ("blockHash" in scope) return [chain.blockByHash(scope.blockHash)].filter((block) => block !== undefined);
    return this.recentBlocks().filter(({ number }) => number >= scope.fromBlock && number <= scope.toBlock);
  }

  /** The last blocks that this node knows. */
  protected recentBlocks(): ScriptedBlock[] {
    const { chain } = this.#node;
    const head = chain.headAtBlockCount(this.#visibleBlockCount);
    const numbers = Array.from({ length: RECENT_BLOCKS_MAX }, (_, index) => head.number - BigInt(index));
    return numbers.map((number) => chain.blockAt(number, head)).filter((block) => block !== undefined);
  }

  protected get nowMs(): number {
    return this.#context.process.scheduler.nowMs;
  }

  protected get unreadable(): UnreadableOnChain {
    return this.#node.unreadable;
  }

  /** Whether its present branch has the block. */
  protected hasBlock(number: bigint, hash: string): boolean {
    const { chain } = this.#node;
    return chain.blockAt(number, chain.headAtBlockCount(this.#visibleBlockCount))?.hash === hash;
  }

  protected chooseMs(min: number, max: number): number {
    return this.#node.random.between(min, max);
  }

  /** The forged transfers of a lying provider. */
  protected get forgery(): Forgery | undefined {
    return this.#node.forgery;
  }

  async #failWithTimeout(): Promise<never> {
    await this.#context.process.wait(TIMEOUT_MS);
    throw new ProviderFailed("timeout", `${this.name} took too long`);
  }

  protected shouldInject(kind: FaultKind): boolean {
    const isStruck = this.#context.faults.shouldInject(kind);
    if (isStruck) this.#context.faults.recordInjected(kind, this.name);
    return isStruck;
  }

  /** Leaves out the logs of some transactions, or of all: with HTTP 200, as real providers do. */
  #omitSomeLogs(transfers: Transfer[]): Transfer[] {
    const { omittedTxs, random } = this.#node;
    const fresh = [...new Set(transfers.map(({ chainTx }) => chainTx))].filter((chainTx) => !omittedTxs.has(chainTx));
    if (fresh.length === 0 || !this.shouldInject("logsOmitted")) return transfers;
    const omitted = new Set(random.chance(0.5) ? fresh : [random.pick(fresh)]);
    for (const chainTx of omitted) if (chainTx !== undefined) omittedTxs.add(chainTx);
    return transfers.filter(({ chainTx, place }) => !omitted.has(chainTx) || (omitted.size === 1 && place % 2n === 1n));
  }

  #isLacking(number: bigint): boolean {
    return this.#node.lacksBlocks && number % LACKING_INTERVAL === 1n;
  }

  /** Leaves out the logs of some transactions each time, long enough for both readings of their blocks. */
  #hideLogs(transfers: Transfer[]): Transfer[] {
    const { hiddenTxs, isAlone, chain } = this.#node;
    const { nowMs } = this.#context.process.scheduler;
    for (const chainTx of new Set(transfers.map((transfer) => transfer.chainTx))) {
      if (!isAlone || hiddenTxs.has(chainTx)) continue;
      // Where strangers act at once, a payment and the sweep that took it may both be hidden. No balance shows such a
      // pair.
      const isPayment = transfers.every((each) => each.chainTx !== chainTx || each.from.startsWith(PAYER_PREFIX));
      if (chain.bridge !== undefined && !isPayment) continue;
      hiddenTxs.set(chainTx, this.shouldInject("logsHidden") ? nowMs + HIDDEN_MS : undefined);
    }
    return transfers.filter(({ chainTx }) => nowMs >= (hiddenTxs.get(chainTx) ?? 0));
  }

  /** Answers some logs with the hash of their block and the number of an earlier one. */
  #misplaceLogs(transfers: Transfer[]): Transfer[] {
    if (transfers.length === 0 || !this.shouldInject("logsMisplaced")) return transfers;
    const { random } = this.#node;
    return transfers.map((transfer) => ({
      ...transfer,
      blockNumber: transfer.blockNumber - BigInt(random.between(0, MISPLACED_BLOCKS_MAX)),
    }));
  }

  /** The proof of a transaction in a replaced block, if one exists. */
  #staleProof(proof: TransactionProof): TransactionProof | undefined {
    const old = this.#node.chain.receiptsOf(proof.chainTx).find(({ blockHash }) => blockHash !== proof.blockHash);
    const canInject = old !== undefined && old.logs.length > 0;
    return canInject && this.shouldInject("oldReceipts") ? this.#node.naming.proofOf(old) : undefined;
  }
}
