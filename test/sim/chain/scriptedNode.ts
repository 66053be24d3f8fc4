import {
  ProviderFailed,
  type BlockRef,
  type HeadTag,
  type ChainIdentity,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "../../../src/chain/reader.ts";
import {
  CallReverted,
  type EvmCall,
  type EvmReceipt,
  type FeeQuote,
  type SubmitOutcome,
  type EvmNode,
} from "../../../src/chain/evm/node.ts";
import { createProof } from "../../../src/chain/evm/proof.ts";
import type { Caip2 } from "../../../src/kernel/caip.ts";
import type { ScriptedChain } from "./scriptedChain.ts";
import { codeKey, nonceKey, unitsKey, weiKey } from "./state.ts";
import { hashOf, type ScriptedBlock, type ScriptedReceipt } from "./transaction.ts";

const TIP = 1_000_000_000n;
const ZERO_SENDER = `0x${"0".repeat(40)}`;

export type NodeView = {
  name?: string;
  /** How many of all blocks ever made this node has heard of; all of them when it answers undefined. */
  knownBlockCount?: () => number | undefined;
  /** Whether its headers say of which tokens there are transfers. */
  hasLogsBloom?: boolean;
};

/** Opens a node of a scripted chain. It answers at once and truthfully, as far as it has heard of the chain. */
export function openScriptedNode(chain: ScriptedChain, view: NodeView = {}): ScriptedNode {
  return new ScriptedNode(chain, view);
}

/** One node's view of a scripted chain. Errors are those of the port. */
export class ScriptedNode implements EvmNode {
  readonly caip2: Caip2;
  readonly name: string;
  readonly #chain: ScriptedChain;
  readonly #knownBlockCount: () => number;
  readonly #hasLogsBloom: boolean;

  constructor(chain: ScriptedChain, view: NodeView) {
    this.caip2 = chain.caip2;
    this.name = view.name ?? `scripted-${chain.chainId}`;
    this.#chain = chain;
    this.#knownBlockCount = () => view.knownBlockCount?.() ?? chain.blockCount;
    this.#hasLogsBloom = view.hasLogsBloom ?? false;
  }

  async identify(): Promise<ChainIdentity> {
    return { caip2: this.caip2, genesisHash: this.#chain.blockAt(0n)?.hash ?? hashOf("none") };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    const head = this.#head();
    if (tag === "latest") return this.#refOf(head);
    const { finalityLag } = this.#chain;
    if (finalityLag === null) throw new ProviderFailed("unknown_block", `${this.name} knows no ${tag} block`);
    const number = head.number - BigInt(tag === "safe" ? finalityLag.safe : finalityLag.finalized);
    const block = this.#chain.blockAt(number < 0n ? 0n : number, head);
    if (!block) throw new ProviderFailed("unknown_block", `${this.name} knows no ${tag} block`);
    return this.#refOf(block);
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    const block = "hash" in at ? this.#known(at.hash) : this.#chain.blockAt(at.number, this.#head());
    return block && this.#refOf(block);
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    if (tokens.length === 0) return [];
    return this.#blocksIn(scope)
      .flatMap((block) => block.receipts)
      .flatMap((receipt) => transfersOf(receipt))
      .filter(({ token, from, to }) => {
        const isAsked = parties === undefined || parties.includes(from) || parties.includes(to);
        return isAsked && tokens.includes(token);
      });
  }

  mayContainTransfers({ digest = "" }: BlockRef, tokens: readonly string[]): boolean {
    return tokens.some((token) => digest.includes(token));
  }

  async proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return chainTxs.flatMap((chainTx) => {
      const receipt = this.#receipt(chainTx);
      return receipt ? [proofOf(receipt)] : [];
    });
  }

  async receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    const receipt = this.#receipt(chainTx);
    if (!receipt) return undefined;
    const { blockNumber, blockHash, succeeded, gasUsed } = receipt;
    return { chainTx, blockNumber, blockHash, succeeded, gasUsed };
  }

  async balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    const block = this.#chain.blockAt(at.blockNumber, this.#head());
    if (!block) throw new ProviderFailed("unknown_block", `${this.name} lacks block ${at.blockNumber}`);
    const mark = this.#chain.stateAfter(block);
    return owners.map((owner) => this.#chain.state.valueAt(unitsKey(token, owner), mark));
  }

  async tokenDecimals(token: string): Promise<number | undefined> {
    return this.#chain.tokens.find((one) => one.address === token)?.decimals;
  }

  async hasCode(address: string): Promise<boolean> {
    return this.#now(codeKey(address)) > 0n;
  }

  async nonce(address: string): Promise<bigint> {
    return this.#now(nonceKey(address));
  }

  async nativeBalance(address: string): Promise<bigint> {
    return this.#now(weiKey(address));
  }

  async fees(): Promise<FeeQuote> {
    return { maxFeePerGas: 2n * this.#chain.baseFee + TIP, maxPriorityFeePerGas: TIP };
  }

  async estimateGas(call: EvmCall): Promise<bigint> {
    return this.#try(call).gasUsed;
  }

  async call(call: EvmCall): Promise<string> {
    return this.#try(call).output;
  }

  async submit(rawTransaction: string): Promise<SubmitOutcome> {
    return this.#chain.submit(rawTransaction);
  }

  #refOf(block: ScriptedBlock): BlockRef {
    const { number, hash, parentHash, timestampS } = block;
    const tokens = this.#hasLogsBloom ? block.receipts.flatMap(transfersOf).map(({ token }) => token) : [];
    return { number, hash, parentHash, timestampS, ...(this.#hasLogsBloom ? { digest: tokens.join() } : {}) };
  }

  #try({ from = ZERO_SENDER, to, data }: EvmCall): { output: string; gasUsed: bigint } {
    const tried = this.#chain.simulateCall({ from, to, data });
    if (!tried.ok) throw new CallReverted(`execution reverted: ${tried.output}`);
    return tried;
  }

  #head(): ScriptedBlock {
    return this.#chain.headAtBlockCount(this.#knownBlockCount());
  }

  #known(hash: string): ScriptedBlock | undefined {
    const block = this.#chain.blockByHash(hash);
    return block && block.creationIndex <= this.#knownBlockCount() ? block : undefined;
  }

  /** A range that reaches beyond the head ends there, as with most nodes. */
  #blocksIn(scope: TransferScope): ScriptedBlock[] {
    if ("blockHash" in scope) {
      const block = this.#known(scope.blockHash);
      if (!block) throw new ProviderFailed("unknown_block", `${this.name} answered: unknown block`);
      return [block];
    }
    const head = this.#head();
    const blocks: ScriptedBlock[] = [];
    for (let number = scope.fromBlock; number <= scope.toBlock && number <= head.number; number += 1n) {
      const block = this.#chain.blockAt(number, head);
      if (block) blocks.push(block);
    }
    return blocks;
  }

  #receipt(chainTx: string): ScriptedReceipt | undefined {
    const head = this.#head();
    return this.#chain
      .receiptsOf(chainTx)
      .find((receipt) => this.#chain.blockAt(receipt.blockNumber, head)?.hash === receipt.blockHash);
  }

  #now(key: string): bigint {
    return this.#chain.state.valueAt(key, this.#chain.stateAfter(this.#head()));
  }
}

export function proofOf({ chainTx, blockNumber, blockHash, succeeded, logs }: ScriptedReceipt): TransactionProof {
  return createProof({ chainTx, blockNumber, blockHash, succeeded, logIndexFirst: logs[0]?.logIndex });
}

/** The transfers that a receipt's logs tell of. */
function transfersOf(receipt: ScriptedReceipt): Transfer[] {
  const { chainTx, blockNumber, blockHash } = receipt;
  return receipt.logs.flatMap(({ address, transfer, logIndex }) => {
    if (!transfer) return [];
    const { from, to, units } = transfer;
    return {
      token: address,
      from,
      to,
      amountText: `0x${units.toString(16)}`,
      chainTx,
      place: BigInt(logIndex),
      blockNumber,
      blockHash,
    };
  });
}
