import { randomBytes } from "node:crypto";

// The only door to randomness, for the same reason as the clock: whoever owns it can replay a run.

export interface Entropy {
  /** `count` unpredictable bytes, fit for keys and tokens. */
  bytes(count: number): Uint8Array;
}

/** Drawn at once, because each drawing costs as much as some hundred bytes. None is given out twice. */
const BUFFER_BYTES = 4_096;
let buffer = new Uint8Array(0);

export const systemEntropy: Entropy = {
  bytes(count) {
    if (count > buffer.length) buffer = new Uint8Array(randomBytes(Math.max(count, BUFFER_BYTES)));
    const given = buffer.slice(0, count);
    // A copy was given, and what was given is forgotten here.
    buffer.fill(0, 0, count);
    buffer = buffer.subarray(count);
    return given;
  },
};
