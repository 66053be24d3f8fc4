import { computeCreate2Address } from "./create2.ts";
import { cloneCreationCodeHash, hubAddress } from "./hub.generated.ts";
import { hashTerms } from "./terms.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";

/**
 * The address at which the hub creates the inbox of these terms, in lower case and equal on every EVM chain.
 * Throws a RangeError that names the first invalid field.
 */
export function computeInboxAddress(terms: Terms): Hex {
  return computeCreate2Address(hubAddress, hashTerms(terms), cloneCreationCodeHash);
}
