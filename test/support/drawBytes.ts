import { SeededRandom } from "../sim/seededRandom.ts";

const drawn = new SeededRandom("keys and secrets of tests");

/** Bytes for keys and secrets of tests. No two draws of a process are equal, and each run draws the same ones. */
export function drawBytes(count: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(drawn.bytes(count));
}
