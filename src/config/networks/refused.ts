// Networks that need another kind of chain. docs/why/024-refused-networks.md says what each would need.

export type RefusedNetwork = { chainId: number; slug: string; name: string; reason: string };

const NATIVE_TOKEN =
  "its native coin is USDC itself, and a system address logs transfers of it in 18 decimals, so a scanner of the token misses half of them";
const DEAR_STORAGE =
  "a new storage slot costs 250,000 gas there, more than the hub gives the transfer of a fee and the creation of an inbox";

export const REFUSED_NETWORKS: readonly RefusedNetwork[] = [
  { chainId: 5_042, slug: "arc", name: "Arc", reason: NATIVE_TOKEN },
  { chainId: 5_042_002, slug: "arc-testnet", name: "Arc Testnet", reason: NATIVE_TOKEN },
  { chainId: 4_217, slug: "tempo", name: "Tempo", reason: DEAR_STORAGE },
  { chainId: 42_431, slug: "tempo-testnet", name: "Tempo Testnet", reason: DEAR_STORAGE },
];

export function findRefusedNetwork(chainId: number): RefusedNetwork | undefined {
  return REFUSED_NETWORKS.find((network) => network.chainId === chainId);
}

/** One sentence about a refused network. */
export function refusalOf({ chainId, name, reason }: RefusedNetwork): string {
  return `${name} (${chainId}) needs another kind of chain than this release has: ${reason}; see docs/why/024-refused-networks.md.`;
}
