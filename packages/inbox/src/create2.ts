import { toHexDigits, keccakHex } from "./hex.ts";
import type { Hex } from "./hex.ts";

/** EIP-1014: the last 20 bytes of keccak256(0xff, creator, salt, keccak256(creation code)). */
export function computeCreate2Address(creator: Hex, salt: Hex, creationCodeHash: Hex): Hex {
  const parts = [
    "ff",
    toHexDigits("creator", creator),
    toHexDigits("salt", salt),
    toHexDigits("codeHash", creationCodeHash),
  ];
  return `0x${keccakHex(parts.join("")).slice(26)}`;
}

/**
 * The creation code of an inbox: nine bytes that return the PUSH0 clone of the implementation, whose address it names
 * without its leading zero bytes.
 */
export function buildCloneCreationCode(implementation: Hex): Hex {
  const target = toHexDigits("implementation", implementation).replace(/^(?:00)+/, "");
  const targetBytes = target.length / 2;
  const [codeBytes, push, jump] = [25 + targetBytes, 0x5f + targetBytes, 21 + targetBytes].map((byte) =>
    byte.toString(16),
  );
  return `0x60${codeBytes}5f8160095f39f35f5f365f5f37365f${push}${target}5af43d5f5f3e60${jump}573d5ffd5b3d5ff3`;
}
