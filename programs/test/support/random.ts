import { createHash } from "node:crypto";

/** Numbers that are the same on every run of the same seed. */
export class Random {
  readonly #seed: string;
  #block = Buffer.alloc(0);
  #blocks = 0;
  #at = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  bytes(count: number): Buffer {
    if (this.#at + count > this.#block.length) {
      this.#block = createHash("sha512").update(`${this.#seed} ${this.#blocks}`).digest();
      this.#blocks += 1;
      this.#at = 0;
    }
    this.#at += count;
    return this.#block.subarray(this.#at - count, this.#at);
  }

  /** A whole number from 0 to `end - 1`. */
  below(end: number): number {
    return this.bytes(4).readUInt32LE(0) % end;
  }

  u64(): bigint {
    return this.bytes(8).readBigUInt64LE(0);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}
