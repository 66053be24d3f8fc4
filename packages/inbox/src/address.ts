import { computeCreate2Address } from "./create2.ts";
import { currentHub, type Hub } from "./hubs.ts";
import { hashTerms } from "./terms.ts";
import type { Hex } from "./hex.ts";
import type { Terms } from "./terms.ts";

/**
 * The address at which a hub creates the inbox of these terms, in lower case and equal on every EVM chain. Inboxes of
 * earlier releases belong to the hub that their `inboxTerms` name. Throws a RangeError that names the first invalid
 * field.
 */
export function computeInboxAddress(terms: Terms, hub: Hub = currentHub): Hex {
  return computeCreate2Address(hub.address, hashTerms(terms), hub.cloneCreationCodeHash);
}
