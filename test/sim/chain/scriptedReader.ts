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
} from "../../../src/chain/reader.ts";
import type { Caip2 } from "../../../src/kernel/caip.ts";
import type { ScriptedChain } from "./scriptedChain.ts";
import { unitsKey, weiKey } from "./state.ts";
import { hashOf, type ScriptedBlock, type ScriptedReceipt } from "./transaction.ts";

export type IdentifiedTransfer = Transfer & { identity: string };

/** How a kind of chain identifies the transfers of a transaction. */
export type TransferNaming = {
  transfersOf(receipt: ScriptedReceipt): IdentifiedTransfer[];
  proofOf(receipt: ScriptedReceipt): TransactionProof;
};

export type NodeView = {
  name?: string;
  /** The number of blocks, in order of creation, that this node knows; undefined for all of them. */
  knownBlockCount?: () => number | undefined;
  /** Whether its headers name the transferred tokens. */
  hasDigests?: boolean;
  /** Whether they are the names of an ancestor, as on a chain that settles blocks later. */
  hasForeignDigests?: boolean;
  /** Whether it has pruned its first block, and the balances of old ones. */
  isPruned?: boolean;
  /** Whether it answers blocks and their transfers together. */
  answersTogether?: boolean;
};

/** How many blocks back a foreign digest comes from, and how many blocks a pruned node keeps balances of. */
const FOREIGN_DISTANCE = 3n;
const KEPT_BALANCES = 64n;

/**
 * One node's view of a scripted chain for readers, in the naming of its kind. It answers at once and truthfully, as far
 * as the node knows the chain.
 */
export class ScriptedReader implements ChainReader {
  readonly caip2: Caip2;
  readonly name: string;
  protected readonly chain: ScriptedChain;
  readonly #naming: TransferNaming;
  readonly #knownBlockCount: () => number;
  readonly #view: NodeView;

  constructor(chain: ScriptedChain, naming: TransferNaming, view: NodeView) {
    this.caip2 = chain.caip2;
    this.name = view.name ?? `scripted-${chain.chainId}`;
    this.chain = chain;
    this.#naming = naming;
    this.#knownBlockCount = () => view.knownBlockCount?.() ?? chain.blockCount;
    this.#view = view;
  }

  async identify(): Promise<ChainIdentity> {
    const genesisHash = this.chain.blockAt(0n)?.hash ?? hashOf("none");
    return { caip2: this.caip2, genesisHash: this.#view.isPruned === true ? undefined : genesisHash };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    const head = this.#head();
    if (tag === "latest") return this.#refOf(head);
    const { finalityLag } = this.chain;
    if (finalityLag === null) throw new ProviderFailed("unknown_block", `${this.name} knows no ${tag} block`);
    const number = head.number - BigInt(tag === "safe" ? finalityLag.safe : finalityLag.finalized);
    const block = this.chain.blockAt(number < 0n ? 0n : number, head);
    if (!block) throw new ProviderFailed("unknown_block", `${this.name} knows no ${tag} block`);
    return this.#refOf(block);
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    const block = "hash" in at ? this.#known(at.hash) : this.chain.blockAt(at.number, this.#head());
    return block && this.#view.isPruned === true && block.number === 0n ? undefined : block && this.#refOf(block);
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    if (tokens.length === 0) return [];
    return this.#blocksIn(scope)
      .flatMap((block) => this.#transfersIn(block))
      .filter(({ token, from, to }) => {
        const isSelected = parties === undefined || parties.includes(from) || parties.includes(to);
        return isSelected && tokens.includes(token);
      })
      .map(withoutIdentity);
  }

  async blocksWithTransfers(range: BlockRange, tokens: readonly string[]): Promise<BlocksWithTransfers | undefined> {
    if (this.#view.answersTogether !== true) return undefined;
    const blocks = this.#blocksIn(range);
    if (BigInt(blocks.length) !== range.toBlock - range.fromBlock + 1n)
      throw new ProviderFailed("unknown_block", `${this.name} lacks a block of a range`);
    return { blocks: blocks.map((block) => this.#refOf(block)), transfers: await this.transfers(range, tokens) };
  }

  mayContainTransfers({ digest = "" }: BlockRef, tokens: readonly string[]): boolean {
    if (this.#view.hasForeignDigests === true) return false;
    return tokens.some((token) => digest.includes(token));
  }

  async proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return chainTxs.flatMap((chainTx) => {
      const receipt = this.receiptOf(chainTx);
      return receipt ? this.#naming.proofOf(receipt) : [];
    });
  }

  async balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    const block = this.chain.blockAt(at.blockNumber, this.#head());
    const isPruned = this.#view.isPruned === true && at.blockNumber + KEPT_BALANCES < this.#head().number;
    if (!block || isPruned) throw new ProviderFailed("unknown_block", `${this.name} lacks block ${at.blockNumber}`);
    const mark = this.chain.stateAfter(block);
    return owners.map((owner) => this.chain.state.valueAt(unitsKey(token, owner), mark));
  }

  async tokenDecimals(token: string): Promise<number | undefined> {
    return this.chain.tokens.find((one) => one.address === token)?.decimals;
  }

  async nativeBalance(address: string): Promise<bigint> {
    return this.now(weiKey(address));
  }

  protected receiptOf(chainTx: string): ScriptedReceipt | undefined {
    const head = this.#head();
    return this.chain
      .receiptsOf(chainTx)
      .find((receipt) => this.chain.blockAt(receipt.blockNumber, head)?.hash === receipt.blockHash);
  }

  protected now(key: string): bigint {
    return this.chain.state.valueAt(key, this.chain.stateAfter(this.#head()));
  }

  #transfersIn(block: ScriptedBlock): IdentifiedTransfer[] {
    return block.receipts.flatMap((receipt) => this.#naming.transfersOf(receipt));
  }

  #refOf(block: ScriptedBlock): BlockRef {
    const { number, hash, parentHash, timestampS } = block;
    const { hasDigests = false, hasForeignDigests = false } = this.#view;
    if (!hasDigests) return { number, hash, parentHash, timestampS };
    const described = hasForeignDigests ? this.chain.blockAt(number - FOREIGN_DISTANCE, block) : block;
    const tokens = described ? this.#transfersIn(described).map(({ token }) => token) : [];
    return { number, hash, parentHash, timestampS, digest: tokens.join() };
  }

  #head(): ScriptedBlock {
    return this.chain.headAtBlockCount(this.#knownBlockCount());
  }

  #known(hash: string): ScriptedBlock | undefined {
    const block = this.chain.blockByHash(hash);
    return block && block.creationIndex <= this.#knownBlockCount() ? block : undefined;
  }

  /** A range beyond the head ends at the head, as with most nodes. */
  #blocksIn(scope: TransferScope): ScriptedBlock[] {
    if ("blockHash" in scope) {
      const block = this.#known(scope.blockHash);
      if (!block) throw new ProviderFailed("unknown_block", `${this.name} answered: unknown block`);
      return [block];
    }
    const head = this.#head();
    const blocks: ScriptedBlock[] = [];
    for (let number = scope.fromBlock; number <= scope.toBlock && number <= head.number; number += 1n) {
      const block = this.chain.blockAt(number, head);
      if (block) blocks.push(block);
    }
    return blocks;
  }
}

/** Readers must request the proof for the identity. */
function withoutIdentity(transfer: IdentifiedTransfer): Transfer {
  const { token, from, to, amountText, chainTx, place, blockNumber, blockHash } = transfer;
  return { token, from, to, amountText, chainTx, place, blockNumber, blockHash };
}
