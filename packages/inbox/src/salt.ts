import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { keccakOfDigits, wordOfBytes32, wordOfUint } from "./hex.ts";
import type { Hex } from "./hex.ts";

const saltTag = "tributary.inbox.v1";

/**
 * `keccak256(abi.encode("tributary.inbox.v1", bytes32 deploymentId, string intentId))`. The deployment id
 * keeps two installations apart that issue the same intent id.
 */
export function inboxSalt(deploymentId: Hex, intentId: string): Hex {
  const tag = encodeString(saltTag);
  const headBytes = 3 * 32;
  const head = [
    wordOfUint("offset", headBytes, 256),
    wordOfBytes32("deploymentId", deploymentId),
    wordOfUint("offset", headBytes + tag.length / 2, 256),
  ];
  return keccakOfDigits([...head, tag, encodeString(intentId)].join(""));
}

/** Length and content of an ABI string as digits, filled up to whole words. */
function encodeString(text: string): string {
  const digits = bytesToHex(utf8ToBytes(text));
  const filled = digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
  return wordOfUint("length", digits.length / 2, 256) + filled;
}
