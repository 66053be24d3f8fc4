import { assert } from "../kernel/assert.ts";

const WORDS = 5;
const ADDRESS_LENGTH = 42;
const SLOTS_MIN = 1_024;

/**
 * An exact set of EVM addresses in stored form that only grows. Twenty bytes of typed array for each slot, at most two thirds of
 * them taken: a million addresses fit where a Set of strings holds a third of that, and a collection has nothing to visit.
 */
export class AddressSet {
  #words = new Uint32Array(SLOTS_MIN * WORDS);
  #isTaken = new Uint8Array(SLOTS_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(address: string): boolean {
    return this.#isTaken[this.#slotOf(address)] === 1;
  }

  add(address: string): void {
    assert(/^0x[0-9a-f]{40}$/.test(address), `${address} is no EVM address in stored form`);
    const slot = this.#slotOf(address);
    if (this.#isTaken[slot] === 1) return;
    for (let word = 0; word < WORDS; word += 1) this.#words[slot * WORDS + word] = wordOf(address, word);
    this.#isTaken[slot] = 1;
    this.#size += 1;
    if (this.#size * 3 > this.#isTaken.length * 2) this.#grow();
  }

  /** The slot that holds `address`, or the free one where it would go. There is always a free one to stop at. */
  #slotOf(address: string): number {
    // The end of an address is a hash's end, so it spreads evenly by itself, and nearly every stranger meets a free slot at once.
    const last = wordOf(address, WORDS - 1);
    const mask = this.#isTaken.length - 1;
    let slot = last & mask;
    while (this.#isTaken[slot] === 1 && !this.#holds(slot, address, last)) slot = (slot + 1) & mask;
    return slot;
  }

  #holds(slot: number, address: string, last: number): boolean {
    const start = slot * WORDS;
    if (this.#words[start + WORDS - 1] !== last || address.length !== ADDRESS_LENGTH) return false;
    for (let word = 0; word < WORDS - 1; word += 1) {
      if (this.#words[start + word] !== wordOf(address, word)) return false;
    }
    return true;
  }

  #grow(): void {
    const words = this.#words;
    const taken = this.#isTaken;
    this.#words = new Uint32Array(words.length * 2);
    this.#isTaken = new Uint8Array(taken.length * 2);
    const mask = this.#isTaken.length - 1;
    for (let old = 0; old < taken.length; old += 1) {
      if (taken[old] !== 1) continue;
      const entry = words.subarray(old * WORDS, (old + 1) * WORDS);
      let slot = (entry[WORDS - 1] ?? 0) & mask;
      while (this.#isTaken[slot] === 1) slot = (slot + 1) & mask;
      this.#words.set(entry, slot * WORDS);
      this.#isTaken[slot] = 1;
    }
  }
}

/** The `word`-th 32 bits of an address, from the left. */
function wordOf(address: string, word: number): number {
  const start = 2 + word * 8;
  return Number.parseInt(address.slice(start, start + 8), 16) >>> 0;
}
