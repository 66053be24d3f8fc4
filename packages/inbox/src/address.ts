import { computeCreate2Address } from "./create2.ts";
import { cloneCreationCodeHash, hubAddress } from "./hub.generated.ts";
import { hashTerms } from "./terms.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";

/**
 * The address that the hub creates for these terms, in lower case, the same on every EVM chain.
 * Throws a RangeError naming the first field that does not fit.
 */
export function computeInboxAddress(terms: Terms): Hex {
  return computeCreate2Address(hubAddress, hashTerms(terms), cloneCreationCodeHash);
}
