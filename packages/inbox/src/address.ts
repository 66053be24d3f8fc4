import { hubAddress, implementationAddress } from "./hub.ts";
import { digitsOfBytes, keccakOfDigits } from "./hex.ts";
import { termsHash } from "./terms.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";

/** The contracts that an inbox belongs to. Everybody uses the published pair, which is the default. */
export type HubPair = { readonly hub: Hex; readonly implementation: Hex };

const publishedPair: HubPair = { hub: hubAddress, implementation: implementationAddress };

/** Creation code of an inbox: nine bytes that return the 45-byte PUSH0 clone of the implementation. */
export function cloneCreationCode(implementation: Hex): Hex {
  const target = digitsOfBytes("implementation", implementation);
  return `0x602d5f8160095f39f35f5f365f5f37365f73${target}5af43d5f5f3e6029573d5ffd5b3d5ff3`;
}

/** The address that the hub creates for these terms, in lower case, the same on every EVM chain. */
export function inboxAddress(terms: Terms, pair: HubPair = publishedPair): Hex {
  const codeHash = keccakOfDigits(cloneCreationCode(pair.implementation).slice(2));
  return create2Address(pair.hub, termsHash(terms), codeHash);
}

/** EIP-1014: the last 20 bytes of keccak256(0xff, creator, salt, keccak256(creation code)). */
export function create2Address(creator: Hex, salt: Hex, codeHash: Hex): Hex {
  const preimage = [
    "ff",
    digitsOfBytes("creator", creator),
    digitsOfBytes("salt", salt),
    digitsOfBytes("codeHash", codeHash),
  ];
  return `0x${keccakOfDigits(preimage.join("")).slice(26)}`;
}
