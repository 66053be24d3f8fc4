import { toHexDigits, keccakHex, encodeAddress, encodeBytes32, encodeUint, zeroBytes32 } from "./hex.ts";
import type { Hex } from "./hex.ts";

/** One way by which money that arrives on another chain may travel to the settle chain. */
export type Route = {
  /** EIP-155 id of the chain where the money arrives. */
  readonly chainId: bigint;
  /** Token that arrives there; the zero address means the native coin. */
  readonly token: Hex;
  /** Contract that knows the bridge. */
  readonly adapter: Hex;
  /** Smallest amount that may travel, in the token's smallest units. */
  readonly minAmount: bigint;
  /** Settings for the adapter, such as domain, maximum fee and finality. */
  readonly config: Hex;
};

/** Double Keccak-256 of the route, so that no inner node can be taken for a leaf. */
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

/** Merkle root over the leaves in the given order, pairs sorted, an odd last one carried up; zero when there is none. */
export function computeRoutesRoot(routes: readonly Route[]): Hex {
  let level: Hex[] = routes.map(hashRoute);
  while (level.length > 1) level = hashLevel(level);
  return level[0] ?? zeroBytes32;
}

/** The siblings on the way from the route at `index` to the root. Throws a RangeError when there is no such route. */
export function computeRouteProof(routes: readonly Route[], index: number): Hex[] {
  if (!Number.isInteger(index) || index < 0 || index >= routes.length)
    throw new RangeError(`there is no route ${index}`);
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
