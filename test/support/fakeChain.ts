import { createHash } from "node:crypto";

// A chain in memory: linked blocks, their transfers and the receipts of their transactions. It mines fast enough for
// thousands of blocks in one test.

export type FakeTransfer = { token: string; from: string; to: string; amountUnits: bigint };

type FakeLog = Record<string, unknown> & { address: string; topics: readonly string[] };

export type FakeBlock = {
  number: number;
  hash: string;
  parentHash: string;
  timestampS: number;
  logs: readonly FakeLog[];
};

/** A transfer with its place, as a watcher must record it. */
export type FakeMovement = FakeTransfer & {
  chainTx: string;
  position: number;
  blockNumber: bigint;
  blockHash: string;
};

const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const APPROVAL_TOPIC = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
const FIRST_BLOCK_S = 1_790_000_000;
const BLOCK_S = 2;

export class FakeChain {
  readonly chainId: number;
  readonly blocks: FakeBlock[] = [];
  readonly #byHash = new Map<string, FakeBlock>();
  readonly #receipts = new Map<string, Record<string, unknown>>();
  readonly #movements: FakeMovement[] = [];

  /** Begins with its first block. Two chains of one id are equal while both mine the same blocks. */
  constructor(chainId: number) {
    this.chainId = chainId;
    this.mine();
  }

  get head(): FakeBlock {
    const head = this.blocks.at(-1);
    if (head === undefined) throw new Error("the chain has no block");
    return head;
  }

  /** Mines one block with a transaction for each list of transfers. */
  mine(transactions: readonly (readonly FakeTransfer[])[] = []): void {
    const number = this.blocks.length;
    const hash = this.#hash(`block ${number}`);
    const parentHash = this.blocks.at(-1)?.hash ?? this.#hash("nothing");
    const logs: FakeLog[] = [];
    for (const [index, transfers] of transactions.entries()) {
      const chainTx = this.#hash(`transaction ${number} ${index}`);
      const place = {
        blockNumber: hex(number),
        blockHash: hash,
        transactionHash: chainTx,
        transactionIndex: hex(index),
      };
      // Each transaction first writes another log, so that a log's index in the receipt differs from the transfer's
      // number.
      const own = [approvalLog(transfers[0]), ...transfers.map(transferLog)].map((log, position) => ({
        ...log,
        ...place,
        logIndex: hex(logs.length + position),
        removed: false,
      }));
      logs.push(...own);
      this.#receipts.set(chainTx, { ...place, status: "0x1", gasUsed: "0x5208", logs: own });
      for (const [position, transfer] of transfers.entries())
        this.#movements.push({
          ...transfer,
          chainTx,
          position: position + 1,
          blockNumber: BigInt(number),
          blockHash: hash,
        });
    }
    const block = { number, hash, parentHash, timestampS: FIRST_BLOCK_S + number * BLOCK_S, logs };
    this.blocks.push(block);
    this.#byHash.set(hash, block);
  }

  blockOf(hash: string): FakeBlock | undefined {
    return this.#byHash.get(hash);
  }

  receiptOf(chainTx: string): Record<string, unknown> | undefined {
    return this.#receipts.get(chainTx);
  }

  /** The transfers into or out of the inboxes in blocks above `above`, in order. */
  movementsOf(inboxes: ReadonlySet<string>, above = 0): FakeMovement[] {
    return this.#movements.filter(
      ({ blockNumber, from, to }) => blockNumber > BigInt(above) && (inboxes.has(from) || inboxes.has(to)),
    );
  }

  #hash(input: string): string {
    return `0x${createHash("sha256").update(`${this.chainId} ${input}`).digest("hex")}`;
  }
}

/** The header in the response to eth_getBlockBy…. */
export function headerOf(block: FakeBlock): Record<string, unknown> {
  const { number, hash, parentHash, timestampS } = block;
  return { number: hex(number), hash, parentHash, timestamp: hex(timestampS), transactions: [] };
}

function hex(number: number | bigint): string {
  return `0x${number.toString(16)}`;
}

function transferLog({ token, from, to, amountUnits }: FakeTransfer): FakeLog {
  return {
    address: token,
    topics: [TRANSFER_TOPIC, word(from), word(to)],
    data: word(hex(amountUnits)),
  };
}

function approvalLog(first: FakeTransfer | undefined): FakeLog {
  const { token, from, to } = first ?? { token: zero(), from: zero(), to: zero() };
  return { address: token, topics: [APPROVAL_TOPIC, word(from), word(to)], data: word("0x1") };
}

function zero(): string {
  return `0x${"00".repeat(20)}`;
}

function word(value: string): string {
  return `0x${value.slice(2).padStart(64, "0")}`;
}
