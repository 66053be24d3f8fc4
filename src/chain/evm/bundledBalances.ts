import { ProviderFailed } from "../reader.ts";
import { parseBytes } from "./rpc/rpcValues.ts";

// Reads the balances of many owners in one request: eth_call runs a creation whose code asks the token for each owner,
// and returns all answers as the created code. So it needs no contract on the chain, and changes nothing there.

/** Owners per request. What a creation may return, 24,576 bytes, has room for 768. */
export const BUNDLED_OWNERS_MAX = 200;

/**
 * The creation code. Behind it follow the token and the owners, a word each, which it copies to memory from 0x80. It
 * replaces each owner by balanceOf(owner), reverts where the token returns no word, and returns the words from 0xa0.
 */
// prettier-ignore
const CODE = [
  "6050", "80", "38", "03", "80", "91", "6080", "39", // size = codesize - 0x50; codecopy(0x80, 0x50, size)
  "6370a08231", "60e0", "1b", "6000", "52", // mstore(0, the selector of balanceOf)
  "6080", "01", "60a0", // end = 0x80 + size; at = 0xa0
  "5b", "81", "81", "10", "15", "6047", "57", // 0x1a loop: if (at >= end) goto done
  "80", "51", "6004", "52", // mstore(4, mload(at))
  "6020", "81", "6024", "6000", "6080", "51", "5a", "fa", // staticcall(gas, token, 0, 0x24, at, 0x20)
  "3d", "601f", "10", "16", "6040", "57", "6000", "6000", "fd", // if it failed, or returned less than a word: revert
  "5b", "6020", "01", "601a", "56", // 0x40 next: at += 0x20; goto loop
  "5b", "50", "60a0", "90", "03", "60a0", "f3", // 0x47 done: return(0xa0, end - 0xa0)
].join("");

/** The data of an eth_call without a recipient that returns the balances of `owners`. */
export function bundledBalanceCall(token: string, owners: readonly string[]): `0x${string}` {
  return `0x${CODE}${[token, ...owners].map((address) => address.slice(2).padStart(64, "0")).join("")}`;
}

/** Parses the answer to `count` owners. Throws ProviderFailed for one of another length. */
export function parseBundledBalances(answer: unknown, count: number): bigint[] {
  const words = parseBytes(answer, "balances").slice(2);
  if (words.length !== count * 64)
    throw new ProviderFailed("bad_answer", `the provider sent ${words.length / 64} balances for ${count} owners`);
  return Array.from({ length: count }, (_, index) => BigInt(`0x${words.slice(index * 64, (index + 1) * 64)}`));
}
