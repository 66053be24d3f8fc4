import { randomBytes } from "node:crypto";

// The only door to randomness, for the same reason as the clock: whoever owns it can replay a run.

export interface Entropy {
  /** `count` unpredictable bytes, fit for keys and tokens. */
  bytes(count: number): Uint8Array;
}

export const systemEntropy: Entropy = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
};
