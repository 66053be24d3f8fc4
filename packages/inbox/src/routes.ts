import { digitsOfBytes, keccakOfDigits, wordOfAddress, wordOfBytes32, wordOfUint, zeroWord } from "./hex.ts";
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
export function routeLeaf(route: Route): Hex {
  const words = [
    wordOfUint("chainId", route.chainId, 64),
    wordOfAddress("token", route.token),
    wordOfAddress("adapter", route.adapter),
    wordOfUint("minAmount", route.minAmount, 256),
    wordOfBytes32("config", keccakOfDigits(digitsOfBytes("config", route.config))),
  ];
  return keccakOfDigits(keccakOfDigits(words.join("")).slice(2));
}

/** Merkle root over the leaves in the given order, pairs sorted, an odd last one carried up; zero when there is none. */
export function routesRoot(routes: readonly Route[]): Hex {
  let level: Hex[] = routes.map(routeLeaf);
  while (level.length > 1) level = nextLevel(level);
  return level[0] ?? zeroWord;
}

/** The siblings on the way from the route at `index` to the root. Throws a RangeError when there is no such route. */
export function routeProof(routes: readonly Route[], index: number): Hex[] {
  if (!Number.isInteger(index) || index < 0 || index >= routes.length)
    throw new RangeError(`there is no route ${index}`);
  const proof: Hex[] = [];
  let position = index;
  let level: Hex[] = routes.map(routeLeaf);
  while (level.length > 1) {
    const sibling = level[position ^ 1];
    if (sibling !== undefined) proof.push(sibling);
    level = nextLevel(level);
    position >>= 1;
  }
  return proof;
}

function nextLevel(level: readonly Hex[]): Hex[] {
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
  return keccakOfDigits(low.slice(2) + high.slice(2));
}
