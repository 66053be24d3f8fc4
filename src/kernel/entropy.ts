import { randomBytes } from "node:crypto";

// The only source of randomness. A test or a simulation that replaces it can replay a run.

export interface Entropy {
  /** Returns `count` unpredictable bytes, fit for keys and tokens. */
  bytes(count: number): Uint8Array;
}

/**
 * Bytes per call of the system's generator, because one call costs as much as several hundred bytes. Each byte is used
 * once.
 */
const BUFFER_BYTES = 4_096;
let buffer = new Uint8Array(0);

export const systemEntropy: Entropy = {
  bytes(count) {
    if (count > buffer.length) buffer = new Uint8Array(randomBytes(Math.max(count, BUFFER_BYTES)));
    const copy = buffer.slice(0, count);
    // The caller has a copy. Clearing the buffer keeps used bytes out of this process's memory.
    buffer.fill(0, 0, count);
    buffer = buffer.subarray(count);
    return copy;
  },
};
