import {
  ProviderFailed,
  type BlockRef,
  type ChainDriver,
  type HeadTag,
  type Identity,
} from "../../src/chain/driver.ts";
import type { ChainReceipt, ReceiptPosition, SubmitOutcome, Transfer, TransferScope } from "../../src/chain/driver.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";

// A chain that has happened already. Its branches are written down beforehand, and a test only chooses which tip is shown, so
// that the same blocks can be heard of again and again, in any order.

export type TapeTransfer = { token: string; from: string; to: string; amountUnits: bigint };
export type TapeTransaction = { chainTx: string; transfers: readonly TapeTransfer[] };

type TapeBlock = BlockRef & { transactions: readonly TapeTransaction[]; logs: readonly Transfer[] };

/** `safe` and `finalized` are so many blocks below the shown tip. */
const FINALITY_DEPTH = 3;

export class Tape implements ChainDriver {
  readonly caip2: Caip2;
  readonly name = "tape";
  readonly #blocks = new Map<string, TapeBlock>();
  readonly genesis: string;
  #branch: TapeBlock[] = [];
  /** While true, questions for logs by block hash are answered with nothing, as by a node that has not indexed them yet. */
  isWithholding = false;

  constructor(caip2: Caip2) {
    this.caip2 = caip2;
    this.genesis = this.write(undefined, []);
    this.show(this.genesis);
  }

  /** Writes a block down on `parent` and returns its hash. Nothing of it is shown yet. */
  write(parent: string | undefined, transactions: readonly TapeTransaction[]): string {
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
        logIndex,
        blockNumber: number,
        blockHash: hash,
      })),
    });
    return hash;
  }

  /** From now on the branch that ends with `tip` is the chain. */
  show(tip: string): void {
    const branch: TapeBlock[] = [];
    for (let at = this.#blocks.get(tip); at !== undefined; at = this.#blocks.get(at.parentHash)) branch.unshift(at);
    this.#branch = branch;
  }

  async identify(): Promise<Identity> {
    return { caip2: this.caip2, genesisHash: this.genesis };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    const depth = tag === "latest" ? 0 : FINALITY_DEPTH;
    const block = this.#branch[Math.max(0, this.#branch.length - 1 - depth)];
    if (!block) throw new Error("a tape begins with a block");
    return refOf(block);
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    const found =
      "number" in at ? this.#branch[Number(at.number)] : this.#branch.find((block) => block.hash === at.hash);
    return found && refOf(found);
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    if ("blockHash" in scope && this.isWithholding) return [];
    return this.#within(scope)
      .flatMap((block) => block.logs)
      .filter(({ token }) => tokens.includes(token))
      .filter(({ from, to }) => parties === undefined || parties.includes(from) || parties.includes(to));
  }

  async positions(chainTxs: readonly string[]): Promise<ReceiptPosition[]> {
    return chainTxs.flatMap((chainTx) => {
      const block = this.#mining(chainTx);
      const first = block?.logs.find((log) => log.chainTx === chainTx);
      if (!block || !first) return [];
      return [{ chainTx, blockHash: block.hash, succeeded: true, logIndexFirst: first.logIndex }];
    });
  }

  async receipt(chainTx: string): Promise<ChainReceipt | undefined> {
    const block = this.#mining(chainTx);
    return block && { chainTx, blockNumber: block.number, blockHash: block.hash, succeeded: true, gasUsed: 21_000n };
  }

  // What follows is never asked on the way from a block to the books.
  async balances(): Promise<bigint[]> {
    return unasked();
  }
  async tokenDecimals(): Promise<number> {
    return unasked();
  }
  async hasCode(): Promise<boolean> {
    return unasked();
  }
  async nonce(): Promise<bigint> {
    return unasked();
  }
  async nativeBalance(): Promise<bigint> {
    return unasked();
  }
  async fees(): Promise<never> {
    return unasked();
  }
  async estimateGas(): Promise<bigint> {
    return unasked();
  }
  async call(): Promise<string> {
    return unasked();
  }
  async submit(): Promise<SubmitOutcome> {
    return unasked();
  }

  #within(scope: TransferScope): TapeBlock[] {
    if ("fromBlock" in scope) return this.#branch.slice(Number(scope.fromBlock), Number(scope.toBlock) + 1);
    const block = this.#branch.find(({ hash }) => hash === scope.blockHash);
    if (!block) throw new ProviderFailed("unknown_block", `the tape does not show block ${scope.blockHash}`);
    return [block];
  }

  #mining(chainTx: string): TapeBlock | undefined {
    return this.#branch.find((block) => block.transactions.some((transaction) => transaction.chainTx === chainTx));
  }
}

function refOf({ number, hash, parentHash, timestampS }: TapeBlock): BlockRef {
  return { number, hash, parentHash, timestampS };
}

function unasked(): never {
  throw new Error("a tape holds blocks and transfers, nothing else");
}
