// Keccak as a module of WebAssembly, put together from the steps of FIPS 202, 3.2. It has 64-bit words and rotations, which JavaScript lacks.

export const BLOCK_BYTES = 136;
export const HASH_BYTES = 32;
/** Where its memory holds what each round adds, and the message; the hash comes to its beginning. */
const CONSTANTS_AT = 64;
export const MESSAGE_AT = 512;
/** What fits into its one page of memory, behind the message's place. */
export const BLOCKS_MAX = 478;

const STATE_WORDS = 25;
const ROUNDS = 24;

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

// Instructions, as bytes.
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const number32 = (value: number) => [0x41, ...signed(value)];
const number64 = (value: number) => [0x42, ...signed(value)];
const load64 = (address: number[], offset: number) => [...address, 0x29, 3, ...unsigned(offset)];
const store64 = 0x37;
const and64 = 0x83;
const xor64 = 0x85;
const rotateLeft64 = 0x89;
const add32 = 0x6a;
const subtract32 = 0x6b;
const loop = [0x03, 0x40];
const end = 0x0b;
/** Keeps the value in a local. */
const keep = (local: number) => [0x22, local];
const less32 = 0x49;
/** Goes back to the beginning of the loop unless the value is 0. */
const repeat = [0x0d, 0];

// Locals: how many blocks are left, the state, what a round makes of it, the state's columns, and where message and constants are read.
const BLOCKS = 0;
const A = 1;
const B = A + STATE_WORDS;
const C = B + STATE_WORDS;
const POINTER = C + 5;
const ROUND = POINTER + 1;

const five = [0, 1, 2, 3, 4];
const at = (x: number, y: number) => (x % 5) + 5 * (y % 5);

/** `(module (memory (export "memory") 1) (func (export "absorb") (param i32) …))`: hashes so many blocks of a padded message. */
export function keccakModule(): Uint8Array<ArrayBuffer> {
  const locals = [2, POINTER - A, 0x7e, 2, 0x7f];
  const body = [...locals, ...absorb(), end];
  const name = (text: string) => [text.length, ...Array.from(text, (character) => character.charCodeAt(0))];
  const section = (id: number, content: number[]) => [id, ...unsigned(content.length), ...content];
  return new Uint8Array([
    ...HEADER,
    ...section(1, [1, 0x60, 1, 0x7f, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...name("memory"), 2, 0, ...name("absorb"), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
    ...section(11, [
      1,
      0,
      ...number32(CONSTANTS_AT),
      end,
      ...unsigned(ROUNDS * 8),
      ...roundConstants().flatMap(littleEndian),
    ]),
  ]);
}

function absorb(): number[] {
  const words = (bytes: number) => Array.from({ length: bytes / 8 }, (_, index) => index);
  const takeBlock = words(BLOCK_BYTES).flatMap((word) => [
    ...get(A + word),
    ...load64(get(POINTER), word * 8),
    xor64,
    ...set(A + word),
  ]);
  const nextRound = [...get(ROUND), ...number32(8), add32, ...keep(ROUND), ...number32(ROUNDS * 8), less32, ...repeat];
  const nextBlock = [...get(BLOCKS), ...number32(1), subtract32, ...keep(BLOCKS), ...repeat];
  const rounds = [...number32(0), ...set(ROUND), ...loop, ...round(), ...nextRound, end];
  const advance = [...get(POINTER), ...number32(BLOCK_BYTES), add32, ...set(POINTER)];
  const blocks = [
    ...number32(MESSAGE_AT),
    ...set(POINTER),
    ...loop,
    ...takeBlock,
    ...rounds,
    ...advance,
    ...nextBlock,
    end,
  ];
  return [...blocks, ...words(HASH_BYTES).flatMap((word) => [...number32(word * 8), ...get(A + word), store64, 3, 0])];
}

/** θ, then ρ and π, χ, ι. */
function round(): number[] {
  const columns = five.flatMap((x) => [
    ...five.flatMap((y) => [...get(A + at(x, y)), ...(y === 0 ? [] : [xor64])]),
    ...set(C + x),
  ]);
  const moved = five.flatMap((x) =>
    five.flatMap((y) => {
      const turned = [...get(C + ((x + 1) % 5)), ...number64(1), rotateLeft64];
      const lane = [...get(A + at(x, y)), ...get(C + ((x + 4) % 5)), xor64, ...turned, xor64];
      return [...lane, ...number64(offsetOf(x, y)), rotateLeft64, ...set(B + at(y, 2 * x + 3 * y))];
    }),
  );
  const mixed = five.flatMap((y) =>
    five.flatMap((x) => {
      const others = [...get(B + at(x + 1, y)), ...number64(-1), xor64, ...get(B + at(x + 2, y)), and64];
      return [...get(B + at(x, y)), ...others, xor64, ...set(A + at(x, y))];
    }),
  );
  return [...columns, ...moved, ...mixed, ...get(A), ...load64(get(ROUND), CONSTANTS_AT), xor64, ...set(A)];
}

/** How far ρ turns the lane at (x, y). */
function offsetOf(x: number, y: number): number {
  let [atX, atY] = [1, 0];
  for (let step = 0; step < STATE_WORDS - 1; step += 1) {
    if (atX === x && atY === y) return (((step + 1) * (step + 2)) / 2) % 64;
    [atX, atY] = [atY, (2 * atX + 3 * atY) % 5];
  }
  return 0;
}

/** What ι adds in each round, by the shift register of 3.2.5. */
function roundConstants(): bigint[] {
  let register = 1;
  const nextBit = () => {
    const bit = BigInt(register & 1);
    register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1;
    return bit;
  };
  const powers = [0n, 1n, 2n, 3n, 4n, 5n, 6n];
  return Array.from({ length: ROUNDS }, () =>
    powers.reduce((constant, power) => constant | (nextBit() << (2n ** power - 1n)), 0n),
  );
}

function littleEndian(word: bigint): number[] {
  return Array.from({ length: 8 }, (_, index) => Number((word >> BigInt(8 * index)) & 0xffn));
}

// Numbers are written in LEB128.
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
