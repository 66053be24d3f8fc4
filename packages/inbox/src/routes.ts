import { toHexDigits, keccakHex, encodeAddress, encodeBytes32, encodeUint, zeroBytes32 } from "./hex.ts";
import type { Hex } from "./hex.ts";

/** A permitted way for a deposit on another chain to reach the settle chain. */
export type Route = {
  /** EIP-155 id of the deposit's chain. */
  readonly chainId: bigint;
  /** The deposited token; the zero address means the native coin. */
  readonly token: Hex;
  /** The contract that calls the bridge. */
  readonly adapter: Hex;
  /** The smallest amount to bridge, in the token's smallest units. */
  readonly minAmount: bigint;
  /** The adapter's settings, such as domain, maximum fee and finality. */
  readonly config: Hex;
};

/** Double Keccak-256 of the route, so that an inner node cannot pass as a leaf. */
export function hashRoute(route: Route): Hex {
  const words = [
    encodeUint("chainId", route.chainId, 64),
    encodeAddress("token", route.token),
    encodeAddress("adapter", route.adapter),
    encodeUint("minAmount", route.minAmount, 256),
    encodeBytes32("config", keccakHex(toHexDigits("config", route.config))),
  ];
  return keccakHex(keccakHex(words.join("")).slice(2));
}

/**
 * Merkle root over the leaves in the given order, with sorted pairs and an odd last node carried up; zero without
 * routes.
 */
export function computeRoutesRoot(routes: readonly Route[]): Hex {
  let level: Hex[] = routes.map(hashRoute);
  while (level.length > 1) level = hashLevel(level);
  return level[0] ?? zeroBytes32;
}

/**
 * The Merkle proof of the route at `index`: the siblings up to the root. Throws a RangeError when the index has no
 * route.
 */
export function computeRouteProof(routes: readonly Route[], index: number): Hex[] {
  if (!Number.isInteger(index) || index < 0 || index >= routes.length)
    throw new RangeError(`no route at index ${index}`);
  const proof: Hex[] = [];
  let position = index;
  let level: Hex[] = routes.map(hashRoute);
  while (level.length > 1) {
    const sibling = level[position ^ 1];
    if (sibling !== undefined) proof.push(sibling);
    level = hashLevel(level);
    position >>= 1;
  }
  return proof;
}

function hashLevel(level: readonly Hex[]): Hex[] {
  const parents: Hex[] = [];
  for (let index = 0; index < level.length; index += 2) {
    const left = level[index];
    if (left === undefined) break;
    const right = level[index + 1];
    parents.push(right === undefined ? left : hashPair(left, right));
  }
  return parents;
}

function hashPair(one: Hex, other: Hex): Hex {
  const [low, high] = one < other ? [one, other] : [other, one];
  return keccakHex(low.slice(2) + high.slice(2));
}
