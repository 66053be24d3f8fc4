/** Random values from a seed; the same seed gives the same values. */
export type SeededRandom = {
  /** An integer from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  /** True with probability 1 / `times`. */
  oneIn(times: number): boolean;
  pick<T>(items: readonly T[]): T;
  bytes(count: number): Buffer;
};

/** Mulberry32: small, fast and sufficient for test cases. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
  };
}
