// All accounts of a chain as one map of integers that can return to any earlier mark. A reverted call, a failed
// transaction and a replaced branch are all such a return.

type JournalEntry = { key: string; before: bigint };

export class ChainState {
  readonly #values = new Map<string, bigint>();
  readonly #journal: JournalEntry[] = [];

  /** 0 for a key that was never set. */
  get(key: string): bigint {
    return this.#values.get(key) ?? 0n;
  }

  set(key: string, value: bigint): void {
    this.#journal.push({ key, before: this.get(key) });
    this.#values.set(key, value);
  }

  add(key: string, difference: bigint): void {
    this.set(key, this.get(key) + difference);
  }

  /** Returns a mark of the present state. */
  snapshot(): number {
    return this.#journal.length;
  }

  /** Reverts all changes since the mark. */
  revertTo(mark: number): void {
    for (let change = this.#journal.length; change > mark; change -= 1) {
      const last = this.#journal.pop();
      if (last) this.#values.set(last.key, last.before);
    }
  }

  /** The value at an earlier mark. */
  valueAt(key: string, mark: number): bigint {
    for (let change = mark; change < this.#journal.length; change += 1) {
      const entry = this.#journal[change];
      if (entry?.key === key) return entry.before;
    }
    return this.get(key);
  }
}

export const unitsKey = (token: string, owner: string): string => `units/${token}/${owner}`;
export const blockedKey = (token: string, owner: string): string => `blocked/${token}/${owner}`;
export const pausedKey = (token: string): string => `paused/${token}`;
export const nonceKey = (address: string): string => `nonce/${address}`;
export const weiKey = (address: string): string => `wei/${address}`;
export const codeKey = (address: string): string => `code/${address}`;
