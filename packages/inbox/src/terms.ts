import { keccakHex, encodeAddress, encodeBytes32, encodeUint } from "./hex.ts";
import type { Hex } from "./hex.ts";

export { zeroAddress, zeroBytes32 } from "./hex.ts";
export type { Hex } from "./hex.ts";

/**
 * Everything that an inbox commits to. Field names and value types are those of the hub's ABI, so viem accepts a
 * `Terms` directly.
 */
export type Terms = {
  /** Keccak-256 over the deployment and the intent; see `computeInboxSalt`. */
  readonly salt: Hex;
  /** EIP-155 id of the payout's chain; 0 for a payout outside EVM chains. */
  readonly settleChainId: bigint;
  /** The payout token; the zero address means the native coin. */
  readonly settleToken: Hex;
  readonly payout: Hex;
  readonly feeRecipient: Hex;
  /** Basis points of the received amount, 0 … 10000. */
  readonly feeBps: number;
  /** The address that may rescue; the zero address means none. */
  readonly recovery: Hex;
  /** Unix time in seconds from which `recovery` may rescue the settle token too. */
  readonly recoverAfter: number;
  /** Merkle root of the routes; 32 zero bytes when there are none. */
  readonly routesRoot: Hex;
};

/** `abi.encode(terms)`. Throws a RangeError that names the first invalid field. */
export function encodeTerms(terms: Terms): Hex {
  return `0x${[
    encodeBytes32("salt", terms.salt),
    encodeUint("settleChainId", terms.settleChainId, 64),
    encodeAddress("settleToken", terms.settleToken),
    encodeAddress("payout", terms.payout),
    encodeAddress("feeRecipient", terms.feeRecipient),
    encodeUint("feeBps", terms.feeBps, 16),
    encodeAddress("recovery", terms.recovery),
    encodeUint("recoverAfter", terms.recoverAfter, 48),
    encodeBytes32("routesRoot", terms.routesRoot),
  ].join("")}`;
}

/** `keccak256(abi.encode(terms))`: the CREATE2 salt of the inbox. */
export function hashTerms(terms: Terms): Hex {
  return keccakHex(encodeTerms(terms).slice(2));
}
