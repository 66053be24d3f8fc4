// Everything a chain's accounts hold, as one map of integers that can be taken back to any earlier mark. A call that reverts, a
// transaction that fails and a branch that is left are then the same thing: a return to a mark.

type Change = { key: string; before: bigint };

export class State {
  readonly #values = new Map<string, bigint>();
  readonly #changes: Change[] = [];

  /** 0 for what was never set. */
  get(key: string): bigint {
    return this.#values.get(key) ?? 0n;
  }

  set(key: string, value: bigint): void {
    this.#changes.push({ key, before: this.get(key) });
    this.#values.set(key, value);
  }

  add(key: string, difference: bigint): void {
    this.set(key, this.get(key) + difference);
  }

  /** Where the state stands now. */
  mark(): number {
    return this.#changes.length;
  }

  /** Undoes everything since the mark. */
  returnTo(mark: number): void {
    for (let change = this.#changes.length; change > mark; change -= 1) {
      const last = this.#changes.pop();
      if (last) this.#values.set(last.key, last.before);
    }
  }

  /** What stood there at an earlier mark. */
  valueAt(key: string, mark: number): bigint {
    for (let change = mark; change < this.#changes.length; change += 1) {
      const entry = this.#changes[change];
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
