import type { EvmNode } from "../node.ts";
import { parseBytes, parseQuantity } from "../rpc/rpcValues.ts";
import { CallReverted } from "../node.ts";
import { ProviderFailed } from "../../reader.ts";

// What a chain's rules are, measured by creation code that a node executes and forgets. Each answer begins with a zero
// byte, because code that begins with 0xef cannot be created.

export type Probed = Pick<EvmNode, "call">;

/** Stores the top of the stack behind a zero byte and returns both. */
const RETURN_WORD = "60015260216000f3";
/** GAS, SSTORE of 1 at slot 0, GAS, and the difference. */
const SLOT_COST = `0x5a60016000555a9003${RETURN_WORD}`;
/** TSTORE of 1 at slot 0, TLOAD of it. */
const TRANSIENT = `0x600160005d60005c${RETURN_WORD}`;
const NO_ACCOUNT = `0x${"00".repeat(32)}`;
const NO_CODE = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
/** The zero byte and a word, as hex digits. */
const ANSWER_DIGITS = 66;
/** The gas of the measuring steps themselves. */
const STEPS_GAS = 8n;
const CREATION_STEPS_GAS = 13n;
const WORD_DIGITS = 64;

/** The gas of writing a new storage slot. */
export async function measureSlotGas(node: Probed): Promise<bigint> {
  return parseQuantity(`0x${(await runCode(node, SLOT_COST)).slice(-16)}`, "a number of gas") - STEPS_GAS;
}

/** The gas of creating a contract by 33 to 64 bytes of creation code. */
export async function measureCreationGas(node: Probed, creationCode: string): Promise<bigint> {
  const bytes = creationCode.slice(2);
  const [head, tail] = [bytes.slice(0, WORD_DIGITS), bytes.slice(WORD_DIGITS).padEnd(WORD_DIGITS, "0")];
  const size = (bytes.length / 2).toString(16).padStart(2, "0");
  // Both words into memory from byte 64 on, then GAS, CREATE of them, GAS, and the difference.
  const code = `0x7f${head}6040527f${tail}6060525a60${size}60406000f0505a9003${RETURN_WORD}`;
  const answer = await runCode(node, code);
  return parseQuantity(`0x${answer.slice(-16)}`, "a number of gas") - CREATION_STEPS_GAS;
}

/** Whether what one step writes into transient storage is there for the next. */
export async function hasTransientStorage(node: Probed): Promise<boolean> {
  try {
    return BigInt(await runCode(node, TRANSIENT)) === 1n;
  } catch (error) {
    if (error instanceof CallReverted) return false;
    throw error;
  }
}

/** The keccak256 of an account's code; undefined for one without code. */
export async function readCodeHash(node: Probed, address: string): Promise<string | undefined> {
  const hash = await runCode(node, `0x73${address.slice(2)}3f${RETURN_WORD}`);
  return hash === NO_ACCOUNT || hash === NO_CODE ? undefined : hash;
}

async function runCode(node: Probed, data: string): Promise<string> {
  const answer = parseBytes(await node.call({ data }), "an answer");
  if (answer.length !== 2 + ANSWER_DIGITS)
    throw new ProviderFailed("bad_answer", "the provider does not execute code without an address");
  return `0x${answer.slice(-64).toLowerCase()}`;
}
