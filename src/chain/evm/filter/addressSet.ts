import type { AddressMatcher } from "../../addressFormat.ts";
import { assert } from "../../../kernel/assert.ts";
import { systemEntropy } from "../../../kernel/entropy.ts";
import { mixBits } from "../../addressSets/mixBits.ts";

const HEX_LENGTH = 40;
const PREFIX = "0x";
const COMMA = ",".charCodeAt(0);
/** 32-bit words stored besides the hash of an address: all but the last, which follows from the hash. */
const WORDS_PER_ADDRESS = 4;
/**
 * The set is sharded by eight bits of the hash, so that it grows in small steps and never copies everything at once.
 */
const SHARDS = 256;
const SLOTS_MIN = 8;
/**
 * Slots after the home slots, so that searches never wrap around. The last slot stays free as an end mark. A shard with
 * many hashes at its end has more of them.
 */
const OVERFLOW_SLOTS_MIN = 32;
const LOAD_FACTOR_MAX = 7 / 8;
const GROWTH_FACTOR = 9 / 8;
/** Minimum bits per address in the prefilter, which rejects nine of ten unknown addresses. */
const PREFILTER_BITS_MIN = 8;
/** Marks a free slot. It is above every stored hash, so it ends a search like a greater hash. */
const FREE_SLOT = 0xffff_ffff;
const EMPTY_WORDS: Words = new Uint32Array(0);

type Words = Uint32Array<ArrayBuffer>;

/**
 * An exact, grow-only set of EVM addresses: twenty bytes a slot in typed arrays, at least seven of nine slots used. The
 * garbage collector has nothing to traverse. Each shard is ordered by hash, so the first greater hash ends a search.
 *
 * The hash is a seeded permutation of the last four bytes and replaces them: equal hash and equal other bytes mean
 * equal addresses. Most lookups read eight digits only. Crafted addresses that end like inboxes cost a full comparison
 * and no more, because the addresses of inboxes are not predictable.
 */
export class AddressSet implements AddressMatcher {
  readonly #hashes: Words[] = [];
  readonly #words: Words[] = [];
  readonly #sizes = new Uint32Array(SHARDS);
  /** The home slots of each shard; the overflow slots follow them. */
  readonly #homeSlots = new Uint32Array(SHARDS).fill(SLOTS_MIN);
  readonly #seed: number;
  /** Hex of addresses whose hash equals FREE_SLOT: one in 2^32. */
  readonly #sentinelAddresses = new Set<string>();
  readonly #ascii = new Uint8Array(HEX_LENGTH);
  /** One bit per interval of hashes, in order: set where an address has a hash in it. */
  #prefilter: Words = new Uint32Array(256);
  #size = 0;

  /** `seed`: four random bytes. */
  constructor(seed: Uint8Array = systemEntropy.bytes(4)) {
    this.#seed = new DataView(seed.buffer, seed.byteOffset, seed.byteLength).getInt32(0);
    for (let index = 0; index < SHARDS; index += 1) {
      this.#hashes.push(new Uint32Array(SLOTS_MIN + OVERFLOW_SLOTS_MIN).fill(FREE_SLOT));
      this.#words.push(new Uint32Array((SLOTS_MIN + OVERFLOW_SLOTS_MIN) * WORDS_PER_ADDRESS));
    }
  }

  get size(): number {
    return this.#size;
  }

  /** The size of the tables in bytes. */
  get byteLength(): number {
    return [this.#prefilter, ...this.#hashes, ...this.#words].reduce((sum, array) => sum + array.byteLength, 0);
  }

  has(address: string): boolean {
    return this.#writeAscii(address) && this.hasAt(this.#ascii, 0);
  }

  /** Whether the forty ASCII characters at `offset` are the hex digits, in either case, of an address in the set. */
  hasAt(bytes: Uint8Array, offset: number): boolean {
    // Other characters hash to some number; #matchesAt rejects them.
    const hash = mixBits(wordAt(bytes, offset + 32) ^ this.#seed);
    if (!hasPrefilterBit(this.#prefilter, hash)) return false;
    const hashes = this.#hashes[hash >>> 24] ?? EMPTY_WORDS;
    const slot = this.#firstSlot(hash, hashes);
    return hashes[slot] === hash && this.#matchesAt({ hash, slot }, bytes, offset);
  }

  addAll(joined: Uint8Array): void {
    let offset = 0;
    while (offset < joined.length) {
      if (joined[offset] !== COMMA) {
        const end = offset + PREFIX.length + HEX_LENGTH;
        const isWhole = end === joined.length || joined[end] === COMMA;
        assert(isWhole && hasPrefix(joined, offset), "what should be watched is no EVM address");
        this.addHexAt(joined, offset + PREFIX.length);
        offset = end;
      }
      offset += 1;
    }
  }

  /** Adds the address whose hex digits, in either case, start at `offset`. */
  addHexAt(bytes: Uint8Array, offset: number): void {
    assert(isHex(bytes, offset), "what should be watched is no EVM address");
    if (this.hasAt(bytes, offset)) return;
    const hash = mixBits(wordAt(bytes, offset + 32) ^ this.#seed);
    if (hash === FREE_SLOT) this.#sentinelAddresses.add(hexAt(bytes, offset));
    else this.#insert(hash, bytes, offset);
    this.#size += 1;
    if (this.#size * PREFILTER_BITS_MIN > this.#prefilter.length * 32) this.#growPrefilter();
    setPrefilterBit(this.#prefilter, hash);
  }

  #growPrefilter(): void {
    // Free slots set the bit of the last interval, which the sentinel addresses need.
    this.#prefilter = new Uint32Array(this.#prefilter.length * 2);
    for (const hashes of this.#hashes) for (const hash of hashes) setPrefilterBit(this.#prefilter, hash);
  }

  #writeAscii(address: string): boolean {
    if (address.length !== HEX_LENGTH + PREFIX.length || !address.startsWith(PREFIX)) return false;
    for (let at = 0; at < HEX_LENGTH; at += 1) {
      const code = address.charCodeAt(at + 2);
      this.#ascii[at] = code < 128 ? code : 0;
    }
    return true;
  }

  /** Compares the addresses with one hash, which are adjacent; rarely more than one. */
  #matchesAt(found: { hash: number; slot: number }, bytes: Uint8Array, offset: number): boolean {
    const { hash } = found;
    if (hash === FREE_SLOT) return isHex(bytes, offset) && this.#sentinelAddresses.has(hexAt(bytes, offset));
    const hashes = this.#hashes[hash >>> 24] ?? EMPTY_WORDS;
    const words = this.#words[hash >>> 24] ?? EMPTY_WORDS;
    for (let slot = found.slot; hashes[slot] === hash; slot += 1) {
      const start = slot * WORDS_PER_ADDRESS;
      const isSame =
        words[start] === wordAt(bytes, offset) &&
        words[start + 1] === wordAt(bytes, offset + 8) &&
        words[start + 2] === wordAt(bytes, offset + 16) &&
        words[start + 3] === wordAt(bytes, offset + 24);
      if (isSame) return isHex(bytes, offset);
    }
    return false;
  }

  #insert(hash: number, bytes: Uint8Array, offset: number): void {
    const index = hash >>> 24;
    const size = (this.#sizes[index] ?? 0) + 1;
    const pointed = this.#homeSlots[index] ?? 0;
    if (size > pointed * LOAD_FACTOR_MAX)
      this.#resizeShard(index, Math.ceil(pointed * GROWTH_FACTOR), this.#overflowSlots(index));
    let slot = this.#makeRoom(hash);
    while (slot === undefined) {
      this.#resizeShard(index, this.#homeSlots[index] ?? 0, this.#overflowSlots(index) * 2);
      slot = this.#makeRoom(hash);
    }
    this.#sizes[index] = size;
    const hashes = this.#hashes[index] ?? EMPTY_WORDS;
    const words = this.#words[index] ?? EMPTY_WORDS;
    hashes[slot] = hash;
    for (let word = 0; word < WORDS_PER_ADDRESS; word += 1)
      words[slot * WORDS_PER_ADDRESS + word] = wordAt(bytes, offset + word * 8);
  }

  /** The first slot without a smaller hash: the slot of `hash`, or its insertion point. */
  #firstSlot(hash: number, hashes: Words): number {
    let slot = homeSlot(hash, this.#homeSlots[hash >>> 24] ?? 0);
    while ((hashes[slot] ?? FREE_SLOT) < hash) slot += 1;
    return slot;
  }

  /**
   * Shifts the slots from a hash's insertion point by one, up to the next free slot. Returns undefined when the last
   * slot would be used.
   */
  #makeRoom(hash: number): number | undefined {
    const hashes = this.#hashes[hash >>> 24] ?? EMPTY_WORDS;
    const slot = this.#firstSlot(hash, hashes);
    const free = hashes.indexOf(FREE_SLOT, slot);
    if (free === hashes.length - 1) return undefined;
    hashes.copyWithin(slot + 1, slot, free);
    this.#words[hash >>> 24]?.copyWithin(
      (slot + 1) * WORDS_PER_ADDRESS,
      slot * WORDS_PER_ADDRESS,
      free * WORDS_PER_ADDRESS,
    );
    return slot;
  }

  /** The number of overflow slots of a shard. */
  #overflowSlots(index: number): number {
    return (this.#hashes[index]?.length ?? 0) - (this.#homeSlots[index] ?? 0);
  }

  /** Moves a shard to new tables with `pointed` home slots and at least `behind` overflow slots. */
  #resizeShard(index: number, pointed: number, behind: number): void {
    const from = { hashes: this.#hashes[index] ?? EMPTY_WORDS, words: this.#words[index] ?? EMPTY_WORDS };
    const slots = pointed + behind;
    const to = { hashes: new Uint32Array(slots).fill(FREE_SLOT), words: new Uint32Array(slots * WORDS_PER_ADDRESS) };
    if (!copySlots(from, to, pointed)) {
      this.#resizeShard(index, pointed, behind * 2);
      return;
    }
    this.#homeSlots[index] = pointed;
    this.#hashes[index] = to.hashes;
    this.#words[index] = to.words;
    // Frees the old tables now, without waiting for a garbage collection.
    from.hashes.buffer.transfer(0);
    from.words.buffer.transfer(0);
  }
}

type Slots = { hashes: Words; words: Words };

/** Copies all of `from` into `to`, in order. Returns false when the last slot would be used. */
function copySlots(from: Slots, to: Slots, pointed: number): boolean {
  let free = 0;
  for (let slot = 0; slot < from.hashes.length; slot += 1) {
    const hash = from.hashes[slot] ?? FREE_SLOT;
    if (hash === FREE_SLOT) continue;
    const place = Math.max(free, homeSlot(hash, pointed));
    if (place >= to.hashes.length - 1) return false;
    to.hashes[place] = hash;
    for (let word = 0; word < WORDS_PER_ADDRESS; word += 1) {
      to.words[place * WORDS_PER_ADDRESS + word] = from.words[slot * WORDS_PER_ADDRESS + word] ?? 0;
    }
    free = place + 1;
  }
  return true;
}

/** The interval of a hash, of 32 per word; `words` is a power of two. */
function prefilterBit(hash: number, words: number): number {
  return hash >>> (Math.clz32(words) - 4);
}

function setPrefilterBit(marks: Words, hash: number): void {
  const bit = prefilterBit(hash, marks.length);
  marks[bit >>> 5] = (marks[bit >>> 5] ?? 0) | (1 << (bit & 31));
}

function hasPrefilterBit(marks: Words, hash: number): boolean {
  const bit = prefilterBit(hash, marks.length);
  return (((marks[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** The home slot of a hash, in order of hashes, out of `pointed`. */
function homeSlot(hash: number, pointed: number): number {
  return Math.floor(((hash & 0xff_ffff) * pointed) / 0x100_0000);
}

/** Parses eight hex digits, in either case, into 32 bits. */
function wordAt(bytes: Uint8Array, offset: number): number {
  let word = 0;
  for (let at = offset; at < offset + 8; at += 1) {
    const code = bytes[at] ?? 0;
    word = (word << 4) | ((code & 0xf) + 9 * (code >>> 6));
  }
  return word >>> 0;
}

function hasPrefix(bytes: Uint8Array, offset: number): boolean {
  return bytes[offset] === PREFIX.charCodeAt(0) && bytes[offset + 1] === PREFIX.charCodeAt(1);
}

function isHex(bytes: Uint8Array, offset: number): boolean {
  for (let at = offset; at < offset + HEX_LENGTH; at += 1) {
    const code = (bytes[at] ?? 0) | 0x20;
    const isDigit = code >= 0x30 && code <= 0x39 && bytes[at] === code;
    if (!isDigit && (code < 0x61 || code > 0x66)) return false;
  }
  return true;
}

function hexAt(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + HEX_LENGTH)).toLowerCase();
}
