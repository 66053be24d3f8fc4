import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { keccakHex, encodeBytes32, encodeUint } from "./hex.ts";
import type { Hex } from "./hex.ts";

const saltTag = "tributary.inbox.v1";

/**
 * `keccak256(abi.encode("tributary.inbox.v1", bytes32 deploymentId, string intentId))`. The deployment id separates
 * installations that issue the same intent id.
 */
export function computeInboxSalt(deploymentId: Hex, intentId: string): Hex {
  const tag = encodeString(saltTag);
  const headBytes = 3 * 32;
  const head = [
    encodeUint("offset", headBytes, 256),
    encodeBytes32("deploymentId", deploymentId),
    encodeUint("offset", headBytes + tag.length / 2, 256),
  ];
  return keccakHex([...head, tag, encodeString(intentId)].join(""));
}

/** The ABI encoding of a string as digits: its length and its content, padded to whole words. */
function encodeString(text: string): string {
  const digits = bytesToHex(utf8ToBytes(text));
  const filled = digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
  return encodeUint("length", digits.length / 2, 256) + filled;
}
