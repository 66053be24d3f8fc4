import { decodeAbiParameters, hexToString, size, type Hex } from "viem";
import { parseSafeInteger } from "./rpc/rpcValues.ts";
import { CallReverted, type EvmNode } from "./node.ts";

// What a token says of itself.

type Caller = Pick<EvmNode, "call" | "hasCode">;

const DECIMALS = "0x313ce567";
const SYMBOL = "0x95d89b41";

/** Undefined where no token is. */
export async function readDecimals(node: Caller, token: string): Promise<number | undefined> {
  // Calls to an address without code return nothing, which is no fault of the provider.
  if (!(await node.hasCode(token))) return undefined;
  const answer = await callUnlessReverted(node, { to: token, data: DECIMALS });
  return answer === undefined ? undefined : parseSafeInteger(answer, "a token's decimals");
}

export async function readSymbol(node: Caller, token: string): Promise<string | undefined> {
  const answer = await callUnlessReverted(node, { to: token, data: SYMBOL });
  return answer === undefined ? undefined : parseSymbol(answer);
}

async function callUnlessReverted(node: Caller, call: { to: string; data: string }): Promise<string | undefined> {
  try {
    return await node.call(call);
  } catch (error) {
    if (error instanceof CallReverted) return undefined;
    throw error;
  }
}

const WORD_BYTES = 32;
const LENGTH_MAX = 32;

/**
 * The text that a token's symbol() returned. Early tokens return a word instead of a string. Undefined for anything
 * else.
 */
function parseSymbol(answer: string): string | undefined {
  const hex = answer as Hex;
  const text = size(hex) === WORD_BYTES ? hexToString(hex, { size: WORD_BYTES }) : decodeText(hex);
  // The text of a stranger's contract is shown to the operator.
  return text !== undefined && /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(text) ? text.slice(0, LENGTH_MAX) : undefined;
}

function decodeText(hex: Hex): string | undefined {
  try {
    return decodeAbiParameters([{ type: "string" }], hex)[0];
  } catch {
    return undefined;
  }
}
