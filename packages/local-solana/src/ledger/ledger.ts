import { createHash } from "node:crypto";
import { decodeKey, encodeKey, systemProgram } from "@tributary/inbox/solana/keys";
import { Account, Clock, LiteSvm, Rent } from "litesvm/dist/internal.js";
import { restoreAccounts, storeAccount, storeAccounts } from "./accountState.ts";
import type { AccountState } from "./accountState.ts";
import type { ExecutedTransaction, LandedTransaction } from "./executedTransaction.ts";
import { TransactionIndex } from "./transactionIndex.ts";

// The blocks of one fork, the newest one open, and the state of every account at each block that is not finalized.
// Depth is counted in blocks, because validators vote on blocks: skipped slots confirm nothing.

export type Commitment = "processed" | "confirmed" | "finalized";

export type Block = {
  readonly slot: number;
  readonly height: number;
  readonly parentSlot: number;
  readonly parentHash: string;
  /** Unix seconds. */
  time: number;
  /** Empty while the block is open. */
  hash: string;
  readonly transactions: LandedTransaction[];
  /** What the block changed, as it was before; null: the account did not exist. Empty once the block is finalized. */
  readonly previous: Map<string, Account | null>;
  /** Keys of the accounts that the block changed. Empty once the block is finalized. */
  readonly changed: Set<string>;
};

/** What a ledger of the same state does again to become the same. */
export type Operation =
  | { readonly kind: "slot"; readonly skipped: number; readonly time: number }
  | { readonly kind: "fork"; readonly depth: number; readonly time: number }
  | { readonly kind: "time"; readonly time: number }
  | { readonly kind: "transaction"; readonly wire: Uint8Array }
  | { readonly kind: "account"; readonly key: string; readonly account: AccountState };

export type LedgerState = {
  readonly genesisHash: string;
  readonly transactionCount: number;
  readonly confirmedHeight: number;
  readonly finalizedHeight: number;
  readonly blocks: readonly (Omit<Block, "previous"> & { readonly previous: Map<string, AccountState | null> })[];
  /** Accounts and settings of the runtime. */
  readonly svm: Uint8Array;
};

export type LedgerListener = {
  /** Anything happened. */
  operation?(operation: Operation): void;
  /** A new slot has begun. */
  slot?(block: Block, root: number): void;
  /** A transaction landed in the open block. */
  transaction?(transaction: LandedTransaction): void;
  /** Accounts changed in the open block. */
  accounts?(keys: readonly string[]): void;
  /** A block reached a level. */
  reached?(block: Block, commitment: "confirmed" | "finalized"): void;
};

export type LedgerOptions = {
  /** Another text gives a chain with another genesis hash. */
  readonly name: string;
  /** Unix seconds of the slot. */
  readonly timeOfSlot: (slot: number) => number;
  /** Blocks between the open one and the newest one of the level. */
  readonly confirmedAfter: number;
  readonly finalizedAfter: number;
  readonly blocksMax: number;
  readonly transactionsMax: number;
  /** What a byte of an account costs from the first block on. */
  readonly lamportsPerByte: bigint;
};

/** A blockhash is usable in this many blocks after its own. */
export const BLOCKHASH_AGE_MAX = 150;
export const SLOTS_IN_EPOCH = 432_000;
/** The first slot that exists. */
export const FIRST_SLOT = 1_000;
/** Lower than the slot, as on the public clusters, where slots have been skipped. */
const FIRST_HEIGHT = 900;
/** Finished work is removed in portions. */
const PORTION = 1_000;

export class Ledger {
  areTimesLost = false;
  readonly svm: LiteSvm;
  readonly genesisHash: string;
  readonly listeners = new Set<LedgerListener>();
  readonly options: LedgerOptions;
  transactionCount = 0;
  readonly #blocks: Block[] = [];
  readonly #bySlot = new Map<number, Block>();
  readonly #transactions = new TransactionIndex();
  readonly #heightOfHash = new Map<string, number>();
  readonly #programs = new Set<string>();
  #confirmed: Block;
  #finalized: Block;

  /** Throws an Error when the stored state belongs to another chain. */
  constructor(options: LedgerOptions, stored?: LedgerState) {
    this.options = options;
    this.genesisHash = hash(["genesis", options.name]);
    this.svm = stored === undefined ? new LiteSvm() : LiteSvm.fromBytes(stored.svm);
    this.svm.setTransactionHistory(0n);
    // The runtime knows the newest blockhash only; this ledger checks them itself.
    this.svm.setBlockhashCheck(false);
    if (stored === undefined) {
      this.svm.setRent(new Rent(options.lamportsPerByte, 1, 50));
      this.#finalized = this.#openFirst();
      this.#confirmed = this.#finalized;
      return;
    }
    if (stored.genesisHash !== this.genesisHash) throw new Error(`the stored chain is ${stored.genesisHash}`);
    for (const { previous, ...block } of stored.blocks)
      this.#blocks.push({ ...block, previous: restoreAccounts(previous) });
    for (const block of this.#blocks) this.#index(block);
    const first = this.#at(0).height;
    this.#confirmed = this.#at(stored.confirmedHeight - first);
    this.#finalized = this.#at(stored.finalizedHeight - first);
    this.transactionCount = stored.transactionCount;
  }

  /** All that a later process needs to go on. */
  toState(): LedgerState {
    const blocks = this.#blocks.map(({ previous, ...block }) => ({ ...block, previous: storeAccounts(previous) }));
    const { genesisHash, transactionCount } = this;
    const heights = { confirmedHeight: this.#confirmed.height, finalizedHeight: this.#finalized.height };
    return { genesisHash, transactionCount, ...heights, blocks, svm: this.svm.toBytes() };
  }

  /** The block that transactions land in. */
  get open(): Block {
    return this.#at(this.#blocks.length - 1);
  }
  get firstSlot(): number {
    return this.#at(0).slot;
  }

  head(commitment: Commitment): Block {
    if (commitment === "processed") return this.open;
    return commitment === "confirmed" ? this.#confirmed : this.#finalized;
  }

  commitmentOf(block: Block): Commitment {
    if (block.height <= this.#finalized.height) return "finalized";
    return block.height <= this.#confirmed.height ? "confirmed" : "processed";
  }

  block(slot: number): Block | undefined {
    return this.#bySlot.get(slot);
  }

  /** At most `limit` slots that have blocks. */
  slots(range: { from: number; to: number; limit: number }): number[] {
    const found: number[] = [];
    const last = Math.min(range.to, this.open.slot);
    for (let slot = Math.max(range.from, this.firstSlot); slot <= last && found.length < range.limit; slot += 1) {
      if (this.#bySlot.has(slot)) found.push(slot);
    }
    return found;
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#transactions.find(signature);
  }

  /** Oldest first. */
  transactionsOf(account: string): readonly LandedTransaction[] {
    return this.#transactions.listOf(account);
  }

  /** The newest blockhash that the block's transactions may use. */
  latestHash(at: Block): { blockhash: string; lastValidBlockHeight: number } {
    const [blockhash, height] = at === this.open ? [at.parentHash, at.height - 1] : [at.hash, at.height];
    return { blockhash, lastValidBlockHeight: height + BLOCKHASH_AGE_MAX };
  }

  /** Counted from the newest closed block, so a transaction lands at most 151 blocks after its blockhash. */
  isHashValid(blockhash: string, at: Block): boolean {
    const height = this.#heightOfHash.get(blockhash);
    const newest = at === this.open ? at.height - 1 : at.height;
    return height !== undefined && height <= newest && newest - height <= BLOCKHASH_AGE_MAX;
  }

  /** An account as of a block; null when it does not exist. */
  accountAt(key: string, at: Block): Account | null {
    const first = this.#at(0).height;
    for (let index = at.height - first + 1; index < this.#blocks.length; index += 1) {
      const previous = this.#at(index).previous.get(key);
      if (previous !== undefined) return previous;
    }
    return this.account(key);
  }

  /** The runtime copies an account on each read, and programs are large, so what they are is remembered. */
  isProgram(key: string): boolean {
    if (!this.#programs.has(key) && this.account(key)?.executable() === true) this.#programs.add(key);
    return this.#programs.has(key);
  }

  hasChangedSince(key: string, at: Block): boolean {
    const first = this.#at(0).height;
    return this.#blocks.slice(at.height - first + 1).some((block) => block.previous.has(key));
  }

  /** The newest state; null when the account does not exist. */
  account(key: string): Account | null {
    const found = this.svm.getAccount(decodeKey("account", key));
    return found === null || found.lamports() === 0n ? null : found;
  }

  /** The accounts of a program at a block that match. */
  programAccounts(program: string, at: Block, isMatch: (account: Account) => boolean): [string, Account][] {
    const first = this.#at(0).height;
    const later = new Set(this.#blocks.slice(at.height - first + 1).flatMap((block) => [...block.previous.keys()]));
    const newest = this.svm.getProgramAccounts(decodeKey("program", program)).flatMap((each): [string, Account][] => {
      const account = each.account();
      return isMatch(account) ? [[encodeKey(each.address), account]] : [];
    });
    const earlier = [...later].flatMap((key): [string, Account][] => {
      const account = this.accountAt(key, at);
      return account !== null && encodeKey(account.owner()) === program && isMatch(account) ? [[key, account]] : [];
    });
    return [...newest.filter(([key]) => !later.has(key)), ...earlier];
  }

  /** Call before the open block changes these accounts. */
  remember(keys: readonly string[]): void {
    for (const key of keys) if (!this.open.previous.has(key)) this.open.previous.set(key, this.account(key));
  }

  /** Writes an account past every program. */
  setAccount(key: string, account: Account): void {
    this.remember([key]);
    this.write(key, account);
    this.open.changed.add(key);
    this.#notify((listener) => listener.operation?.({ kind: "account", key, account: storeAccount(account) }));
    this.#notify((listener) => listener.accounts?.([key]));
  }

  /** Writes without a trace; null removes the account. */
  write(key: string, account: Account | null): void {
    const missing = () => new Account(0n, new Uint8Array(0), decodeKey("owner", systemProgram), false, 0n);
    this.svm.setAccount(decodeKey("account", key), account ?? missing());
  }

  land(executed: ExecutedTransaction): LandedTransaction {
    const { open } = this;
    const landed: LandedTransaction = {
      ...executed,
      slot: open.slot,
      index: open.transactions.length,
      version: executed.parsed.version,
    };
    open.transactions.push(landed);
    for (const key of landed.writableKeys) open.changed.add(key);
    this.#transactions.add(landed);
    this.transactionCount += 1;
    this.#notify((listener) => listener.operation?.({ kind: "transaction", wire: landed.parsed.wire }));
    this.#notify((listener) => listener.transaction?.(landed));
    this.#notify((listener) => listener.accounts?.(landed.writableKeys));
    return landed;
  }

  /** Closes the open block and opens the next one, after this many slots without a block. */
  nextSlot(skipped = 0, time?: number): void {
    const { open } = this;
    this.#close(open);
    const next = { slot: open.slot + 1 + skipped, height: open.height + 1, parentSlot: open.slot };
    const opened = this.#open(next, { hash: open.hash, time });
    this.#notify((listener) => listener.operation?.({ kind: "slot", skipped, time: opened.time }));
    this.#raiseLevels();
    this.#dropOld();
    this.#notify((listener) => listener.slot?.(this.open, this.#finalized.slot));
  }

  /**
   * Drops the newest `depth` blocks, the open one included, with all that they changed. The next block follows the last
   * one that stays. Returns the transactions that were dropped, oldest first.
   */
  fork(depth: number, time?: number): LandedTransaction[] {
    const droppable = this.open.height - this.#finalized.height;
    if (!Number.isInteger(depth) || depth < 1 || depth > droppable)
      throw new RangeError(`a fork drops 1 to ${droppable} blocks: finalized ones stay`);
    const { slot } = this.open;
    const dropped = this.#blocks.splice(-depth);
    for (const block of dropped.toReversed()) {
      for (const [key, account] of block.previous) this.write(key, account);
      this.#bySlot.delete(block.slot);
      this.#heightOfHash.delete(block.hash);
    }
    const transactions = dropped.flatMap((block) => block.transactions);
    this.#transactions.remove(transactions);
    const parent = this.open;
    if (this.#confirmed.height > parent.height) this.#confirmed = parent;
    const next = { slot: slot + 1, height: parent.height + 1, parentSlot: parent.slot };
    const opened = this.#open(next, { hash: parent.hash, time });
    this.#notify((listener) => listener.operation?.({ kind: "fork", depth, time: opened.time }));
    const changed = new Set(dropped.flatMap((block) => [...block.previous.keys()]));
    this.#notify((listener) => listener.slot?.(this.open, this.#finalized.slot));
    this.#notify((listener) => listener.accounts?.([...changed]));
    return transactions;
  }

  /** Gives the open block another time. */
  setTime(time: number): void {
    this.#setClock(time);
    this.#notify((listener) => listener.operation?.({ kind: "time", time }));
  }

  #setClock(time: number): void {
    const { open } = this;
    open.time = time;
    const epoch = BigInt(Math.floor(open.slot / SLOTS_IN_EPOCH));
    this.svm.setClock(new Clock(BigInt(open.slot), 0n, epoch, epoch + 1n, BigInt(time)));
  }

  #openFirst(): Block {
    const place = { slot: FIRST_SLOT, height: FIRST_HEIGHT, parentSlot: FIRST_SLOT - 1 };
    const base = this.#open(place, { hash: this.genesisHash });
    this.#close(base);
    const next = { slot: FIRST_SLOT + 1, height: FIRST_HEIGHT + 1, parentSlot: FIRST_SLOT };
    this.#open(next, { hash: base.hash });
    return base;
  }

  #open(
    place: Pick<Block, "slot" | "height" | "parentSlot">,
    { hash: parentHash, time = this.options.timeOfSlot(place.slot) }: { hash: string; time?: number | undefined },
  ): Block {
    const changes = { previous: new Map<string, Account | null>(), changed: new Set<string>() };
    const block: Block = { ...place, parentHash, time, hash: "", transactions: [], ...changes };
    this.#blocks.push(block);
    this.#index(block);
    this.#setClock(time);
    return block;
  }

  #index(block: Block): void {
    this.#bySlot.set(block.slot, block);
    if (block.hash !== "") this.#heightOfHash.set(block.hash, block.height);
    for (const transaction of block.transactions) this.#transactions.add(transaction);
  }

  #close(block: Block): void {
    const signatures = block.transactions.map(({ signature }) => signature);
    block.hash = hash([block.parentHash, String(block.slot), ...signatures]);
    this.#heightOfHash.set(block.hash, block.height);
    const [oldest = "", height = 0] = this.#heightOfHash.entries().next().value ?? [];
    if (height < block.height - 2 * BLOCKHASH_AGE_MAX) this.#heightOfHash.delete(oldest);
  }

  #raiseLevels(): void {
    const { confirmedAfter, finalizedAfter } = this.options;
    const first = this.#at(0).height;
    const raise = (from: Block, lag: number, commitment: "confirmed" | "finalized") => {
      let reached = from;
      while (this.open.height - reached.height > lag) {
        reached = this.#at(reached.height - first + 1);
        if (commitment === "confirmed") this.#confirmed = reached;
        else this.#finalized = reached;
        const block = reached;
        this.#notify((listener) => listener.reached?.(block, commitment));
        if (commitment === "finalized") block.changed.clear();
        if (commitment === "finalized") block.previous.clear();
      }
    };
    raise(this.#confirmed, confirmedAfter, "confirmed");
    raise(this.#finalized, finalizedAfter, "finalized");
  }

  #dropOld(): void {
    const { blocksMax, transactionsMax } = this.options;
    const isTooMany = this.#blocks.length > blocksMax + PORTION || this.#transactions.size > transactionsMax + PORTION;
    if (!isTooMany) return;
    let count = Math.max(0, this.#blocks.length - blocksMax);
    const transactions = this.#blocks.slice(0, count).flatMap((block) => block.transactions);
    while (this.#transactions.size - transactions.length > transactionsMax && this.#at(count) !== this.#finalized) {
      transactions.push(...this.#at(count).transactions);
      count += 1;
    }
    for (const { slot } of this.#blocks.splice(0, count)) this.#bySlot.delete(slot);
    this.#transactions.remove(transactions);
  }

  #at(index: number): Block {
    const block = this.#blocks[index];
    if (block === undefined) throw new RangeError(`no block ${index}`);
    return block;
  }

  #notify(call: (listener: LedgerListener) => void): void {
    for (const listener of this.listeners) call(listener);
  }
}

function hash(parts: readonly string[]): string {
  return encodeKey(new Uint8Array(createHash("sha256").update(JSON.stringify(parts)).digest()));
}
