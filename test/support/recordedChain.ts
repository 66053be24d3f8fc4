import { ProviderFailed, type BlockRef, type HeadTag, type ChainIdentity } from "../../src/chain/reader.ts";
import type { TransactionProof, Transfer, TransferScope } from "../../src/chain/reader.ts";
import type { EvmNode, EvmReceipt, SubmitOutcome } from "../../src/chain/evm/node.ts";
import { createProof } from "../../src/chain/evm/proof.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";

// A chain whose branches are recorded in advance. A test chooses only the tip, so that a watcher can read the same
// blocks again in any order.

export type RecordedTransfer = { token: string; from: string; to: string; amountUnits: bigint };
export type RecordedTransaction = { chainTx: string; transfers: readonly RecordedTransfer[] };

type RecordedBlock = BlockRef & { transactions: readonly RecordedTransaction[]; logs: readonly Transfer[] };

/** `safe` and `finalized` lie this many blocks below the tip. */
const FINALITY_LAG = 3;

export class RecordedChain implements EvmNode {
  readonly caip2: Caip2;
  readonly name = "tape";
  readonly #blocks = new Map<string, RecordedBlock>();
  readonly genesis: string;
  #canonical: RecordedBlock[] = [];
  /** While true, log queries by block hash return nothing, as from a node that still indexes. */
  omitsLogs = false;

  constructor(caip2: Caip2) {
    this.caip2 = caip2;
    this.genesis = this.addBlock(undefined, []);
    this.setTip(this.genesis);
  }

  /** Records a block on `parent` and returns its hash. The chain does not show it yet. */
  addBlock(parent: string | undefined, transactions: readonly RecordedTransaction[]): string {
    const below = parent === undefined ? undefined : this.#blocks.get(parent);
    const number = below === undefined ? 0n : below.number + 1n;
    const hash = `0x${(this.#blocks.size + 1).toString(16).padStart(64, "b")}`;
    const parentHash = below?.hash ?? `0x${"0".repeat(64)}`;
    const block = { number, hash, parentHash, timestampS: 1_790_000_000 + Number(number) };
    const logs = transactions.flatMap(({ chainTx, transfers }) => transfers.map((transfer) => ({ chainTx, transfer })));
    this.#blocks.set(hash, {
      ...block,
      transactions,
      logs: logs.map(({ chainTx, transfer: { amountUnits, ...transfer } }, logIndex) => ({
        ...transfer,
        amountText: String(amountUnits),
        chainTx,
        place: BigInt(logIndex),
        blockNumber: number,
        blockHash: hash,
      })),
    });
    return hash;
  }

  /** Makes the branch that ends with `tip` the chain. */
  setTip(tip: string): void {
    const branch: RecordedBlock[] = [];
    for (let at = this.#blocks.get(tip); at !== undefined; at = this.#blocks.get(at.parentHash)) branch.unshift(at);
    this.#canonical = branch;
  }

  async identify(): Promise<ChainIdentity> {
    return { caip2: this.caip2, genesisHash: this.genesis };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    const depth = tag === "latest" ? 0 : FINALITY_LAG;
    const block = this.#canonical[Math.max(0, this.#canonical.length - 1 - depth)];
    if (!block) throw new Error("the recorded chain has no block");
    return toBlockRef(block);
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    const found =
      "number" in at ? this.#canonical[Number(at.number)] : this.#canonical.find((block) => block.hash === at.hash);
    return found && toBlockRef(found);
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    if ("blockHash" in scope && this.omitsLogs) return [];
    return this.#blocksIn(scope)
      .flatMap((block) => block.logs)
      .filter(({ token }) => tokens.includes(token))
      .filter(({ from, to }) => parties === undefined || parties.includes(from) || parties.includes(to));
  }

  async proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    return chainTxs.flatMap((chainTx) => {
      const block = this.#blockOf(chainTx);
      const first = block?.logs.find((log) => log.chainTx === chainTx);
      if (!block || !first) return [];
      return [
        createProof({
          chainTx,
          blockNumber: block.number,
          blockHash: block.hash,
          succeeded: true,
          logIndexFirst: Number(first.place),
          logCount: block.logs.filter((log) => log.chainTx === chainTx).length,
        }),
      ];
    });
  }

  async receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    const block = this.#blockOf(chainTx);
    return block && { chainTx, blockNumber: block.number, blockHash: block.hash, succeeded: true, gasUsed: 21_000n };
  }

  // The watcher, deposit and settlement stations never call these.
  async balances(): Promise<bigint[]> {
    return throwNotRecorded();
  }
  async tokenDecimals(): Promise<number> {
    return throwNotRecorded();
  }
  async hasCode(): Promise<boolean> {
    return throwNotRecorded();
  }
  async nonce(): Promise<bigint> {
    return throwNotRecorded();
  }
  async nativeBalance(): Promise<bigint> {
    return throwNotRecorded();
  }
  async fees(): Promise<never> {
    return throwNotRecorded();
  }
  async blockGasLimit(): Promise<never> {
    throw new Error("the tape has no gas");
  }
  async estimateGas(): Promise<bigint> {
    return throwNotRecorded();
  }
  async call(): Promise<string> {
    return throwNotRecorded();
  }
  async submit(): Promise<SubmitOutcome> {
    return throwNotRecorded();
  }

  #blocksIn(scope: TransferScope): RecordedBlock[] {
    if ("fromBlock" in scope) return this.#canonical.slice(Number(scope.fromBlock), Number(scope.toBlock) + 1);
    const block = this.#canonical.find(({ hash }) => hash === scope.blockHash);
    if (!block) throw new ProviderFailed("unknown_block", `the recorded chain does not show block ${scope.blockHash}`);
    return [block];
  }

  #blockOf(chainTx: string): RecordedBlock | undefined {
    return this.#canonical.find((block) => block.transactions.some((transaction) => transaction.chainTx === chainTx));
  }
}

function toBlockRef({ number, hash, parentHash, timestampS }: RecordedBlock): BlockRef {
  return { number, hash, parentHash, timestampS };
}

function throwNotRecorded(): never {
  throw new Error("the chain records blocks and transfers only");
}
