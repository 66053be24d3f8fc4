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

/** The creation code of an inbox: nine bytes that return the 45-byte PUSH0 clone of the implementation. */
export function buildCloneCreationCode(implementation: Hex): Hex {
  const target = toHexDigits("implementation", implementation);
  return `0x602d5f8160095f39f35f5f365f5f37365f73${target}5af43d5f5f3e6029573d5ffd5b3d5ff3`;
}
