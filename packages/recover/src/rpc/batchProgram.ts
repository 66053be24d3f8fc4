import { hexToBytes } from "@noble/hashes/utils";
import type { Hex } from "@tributary/inbox/terms";

// A program for `eth_call` without a receiver: nodes run it as the creation code of a contract that never exists. It
// asks many contracts in one request, on any EVM chain and without a contract of ours there. Each entry behind the code
// is a target of 20 bytes and 36 bytes of call data; target zero is the native coin of the address in the data. The
// answer is a mark, then for each entry a byte and `words` words.

export type BatchEntry = { readonly target: Hex; readonly data: Hex };

/** What an entry answered: whole words. Undefined: the call failed, which can be a lack of gas. */
export type BatchAnswer = Hex | undefined;

const TARGET_BYTES = 20;
const DATA_BYTES = 36;
const WORD_BYTES = 32;
/** A call gets this much. A token that needs more is asked alone. */
const CALL_GAS = 300_000;
/** With less left than a call may use, the whole program fails, so that no entry fails for want of gas. */
const GAS_LEFT_MIN = 330_000;
/** Code may not begin with 0xef, and the answer is code to the node. */
const MARK = 0x01;
const OUT_START = 64;

const OPCODES: Readonly<Record<string, number>> = {
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  LT: 0x10,
  GT: 0x11,
  ISZERO: 0x15,
  XOR: 0x18,
  SHR: 0x1c,
  BALANCE: 0x31,
  CODESIZE: 0x38,
  CODECOPY: 0x39,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  MSTORE8: 0x53,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  DUP4: 0x83,
  DUP5: 0x84,
  SWAP1: 0x90,
  RETURN: 0xf3,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
};

/**
 * `name:` is a place to jump to, `>name` pushes it, and a number pushes itself. The stack's top is on the right of the
 * comments.
 */
function listSource(words: number): readonly string[] {
  const outBytes = words * WORD_BYTES;
  const source = `
    >entries ${OUT_START}                                     // in out
    next: DUP2 CODESIZE GT ISZERO >end JUMPI
    ${GAS_LEFT_MIN} GAS LT >fail JUMPI
    ${TARGET_BYTES} DUP3 0 CODECOPY 0 MLOAD 96 SHR             // in out target
    ${DATA_BYTES} DUP4 ${TARGET_BYTES} ADD 0 CODECOPY
    DUP1 ISZERO >native JUMPI
    0 0 ${DATA_BYTES} 0 DUP5 ${CALL_GAS} STATICCALL >answered JUMPI
    done: POP ${outBytes + 1} ADD SWAP1 ${TARGET_BYTES + DATA_BYTES} ADD SWAP1 >next JUMP
    native: 4 MLOAD BALANCE DUP3 1 ADD MSTORE 2 DUP3 MSTORE8 >done JUMP
    answered:
    ${outBytes} RETURNDATASIZE DUP2 DUP2 LT SWAP1 DUP3 XOR MUL XOR // in out target size, the smaller of both
    DUP1 5 SHR 1 ADD DUP4 MSTORE8
    0 DUP4 1 ADD RETURNDATACOPY >done JUMP
    end: ${MARK} ${OUT_START - 1} MSTORE8 ${OUT_START - 1} DUP2 SUB ${OUT_START - 1} RETURN
    fail: 0 0 REVERT`;
  return source
    .replaceAll(/\/\/.*$/gm, "")
    .trim()
    .split(/\s+/);
}

/** Numbers and places have three bytes, so that no length depends on another. */
const PUSH3 = 0x62;
const PUSH_BYTES = 4;

function assemble(source: readonly string[]): string {
  const places = new Map<string, number>();
  let length = 0;
  for (const token of source) {
    if (token.endsWith(":")) places.set(token.slice(0, -1), length);
    length += token.endsWith(":") || OPCODES[token] !== undefined ? 1 : PUSH_BYTES;
  }
  places.set("entries", length);
  const toByte = (value: number) => value.toString(16).padStart(2, "0");
  return source
    .map((token) => {
      if (token.endsWith(":")) return toByte(OPCODES["JUMPDEST"] ?? 0);
      const opcode = OPCODES[token];
      if (opcode !== undefined) return toByte(opcode);
      const value = token.startsWith(">") ? places.get(token.slice(1)) : Number(token);
      if (value === undefined || Number.isNaN(value)) throw new RangeError(`${token} is no instruction`);
      return `${toByte(PUSH3)}${value.toString(16).padStart(6, "0")}`;
    })
    .join("");
}

/** The `data` of the call. `words`: the most words of each answer. */
export function encodeBatch(entries: readonly BatchEntry[], words: number): Hex {
  const encoded = entries.map(({ target, data }) => `${target.slice(2)}${data.slice(2).padEnd(DATA_BYTES * 2, "0")}`);
  return `0x${assemble(listSource(words))}${encoded.join("")}`;
}

/** The answers in the order of the entries; undefined for bytes that are no answer of the program. */
export function decodeBatch(response: unknown, count: number, words: number): BatchAnswer[] | undefined {
  const stride = words * WORD_BYTES + 1;
  if (typeof response !== "string" || !/^0x(?:[0-9a-f]{2})*$/i.test(response)) return undefined;
  const bytes = hexToBytes(response.slice(2));
  if (bytes.length !== 1 + count * stride || bytes[0] !== MARK) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const start = 1 + index * stride;
    const state = bytes[start] ?? 0;
    if (state === 0) return undefined;
    const digits = response.slice(2 + (start + 1) * 2, 2 + (start + 1 + (state - 1) * WORD_BYTES) * 2);
    return `0x${digits}` as const;
  });
}
