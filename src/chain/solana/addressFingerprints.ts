import { systemEntropy } from "../../kernel/entropy.ts";
import type { AddressMatcher } from "../addressFormat.ts";
import { mixBits } from "../addressSets/mixBits.ts";

const COMMA = ",".charCodeAt(0);
const SLOTS_MIN = 1_024;
/** Slots in use, at most; a search then ends after some steps. */
const LOAD_FACTOR_MAX = 3 / 4;

/**
 * A grow-only set of addresses as texts, by 64 bits of a seeded hash: eight bytes a slot. Of 10^6 addresses it finds a
 * foreign one once in 10^13, and nobody who does not know the seed can craft one. Such a transfer is dropped when the
 * database matches its inbox.
 */
export class AddressFingerprints implements AddressMatcher {
  readonly #seed: number;
  /** Two words a slot; both are 0 where it is free. */
  #slots = new Uint32Array(2 * SLOTS_MIN);
  #size = 0;

  /** `seed`: four random bytes. */
  constructor(seed: Uint8Array = systemEntropy.bytes(4)) {
    this.#seed = new DataView(seed.buffer, seed.byteOffset, seed.byteLength).getUint32(0);
  }

  get size(): number {
    return this.#size;
  }

  /** The size of the table in bytes. */
  get byteLength(): number {
    return this.#slots.byteLength;
  }

  addAll(joined: Uint8Array): void {
    let start = 0;
    while (start <= joined.length) {
      const comma = joined.indexOf(COMMA, start);
      const end = comma < 0 ? joined.length : comma;
      if (end > start) this.#add(fingerprint(joined, { start, end, seed: this.#seed }));
      start = end + 1;
    }
  }

  has(address: string): boolean {
    const ascii = Buffer.from(address, "latin1");
    return (
      address !== "" &&
      this.#isFree(this.#find(fingerprint(ascii, { start: 0, end: ascii.length, seed: this.#seed }))) === false
    );
  }

  /** Answers are parsed before their addresses are looked up. */
  hasAt(): boolean {
    return false;
  }

  #add(print: Fingerprint): void {
    const slot = this.#find(print);
    if (!this.#isFree(slot)) return;
    this.#put(slot, print);
    this.#size += 1;
    if (2 * this.#size > this.#slots.length * LOAD_FACTOR_MAX) this.#grow();
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let index = 0; index < old.length; index += 2) {
      const print = { high: old[index] ?? 0, low: old[index + 1] ?? 0 };
      if (print.high !== 0 || print.low !== 0) this.#put(this.#find(print), print);
    }
  }

  /** The slot of a fingerprint, or the free one for it. */
  #find({ high, low }: Fingerprint): number {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    let slot = high & mask;
    while (!this.#isFree(slot) && (slots[2 * slot] !== high || slots[2 * slot + 1] !== low)) slot = (slot + 1) & mask;
    return slot;
  }

  #isFree(slot: number): boolean {
    return this.#slots[2 * slot] === 0 && this.#slots[2 * slot + 1] === 0;
  }

  #put(slot: number, { high, low }: Fingerprint): void {
    this.#slots[2 * slot] = high;
    this.#slots[2 * slot + 1] = low;
  }
}

type Fingerprint = { high: number; low: number };

/** Two multiplicative hashes over the text, which differ in their factors and are mixed at the end. */
function fingerprint(
  text: Uint8Array,
  { start, end, seed }: { start: number; end: number; seed: number },
): Fingerprint {
  let high = seed ^ 0x9e37_79b9;
  let low = seed ^ 0x41c6_ce57;
  for (let index = start; index < end; index += 1) {
    const byte = text[index] ?? 0;
    high = Math.imul(high ^ byte, 0x85eb_ca6b);
    low = Math.imul(low ^ byte, 0xc2b2_ae35);
    high = (high << 13) | (high >>> 19);
    low = (low << 17) | (low >>> 15);
  }
  const [one, other] = [mixBits(high ^ (low >>> 15)), mixBits(low ^ (high >>> 13))];
  // 0 and 0 mark a free slot.
  return { high: one, low: one === 0 && other === 0 ? 1 : other };
}
