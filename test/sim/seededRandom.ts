import { hash } from "node:crypto";

/**
 * Random numbers that depend on the seed alone. Each part of a simulation derives its own stream, so leaving one part
 * out changes no other.
 */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #d: number;
  readonly #name: string;

  constructor(name: string) {
    const digest = hash("sha256", name);
    const word = (index: number) => Number.parseInt(digest.slice(index * 8, index * 8 + 8), 16) | 0;
    this.#name = name;
    [this.#a, this.#b, this.#c, this.#d] = [word(0), word(1), word(2), word(3)];
  }

  /** The stream of one part. */
  derive(part: string): SeededRandom {
    return new SeededRandom(`${this.#name}/${part}`);
  }

  /** 0 ≤ number < 1 (sfc32). */
  number(): number {
    const t = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.number() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.number() < probability;
  }

  pick<T>(among: readonly [T, ...T[]]): T;
  pick<T>(among: readonly T[]): T | undefined;
  pick<T>(among: readonly T[]): T | undefined {
    return among[Math.floor(this.number() * among.length)];
  }

  shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((one) => ({ one, place: this.number() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ one }) => one);
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => Math.floor(this.number() * 256));
  }

  hex(bytes: number): `0x${string}` {
    return `0x${Buffer.from(this.bytes(bytes)).toString("hex")}`;
  }
}
