import { caip2, type Caip2 } from "../kernel/caip.ts";
import { closestMatch } from "../kernel/text/closestMatch.ts";
import { findKnownChain } from "./knownChains.ts";

// Resolves chain names of the command line. Every command accepts the same four forms.

export type NamedChain = { caip2: Caip2; chainId: number; slug: string; name: string };

/** The accepted forms, for help texts. */
export const CHAIN_NAME_FORMS = "slug, chain id, CAIP-2 or name";

/** Returns undefined for an unknown or ambiguous name: a guess could move money on the wrong chain. */
export function findChainByName<Chain extends NamedChain>(chains: readonly Chain[], name: string): Chain | undefined {
  const lowerCaseName = name.toLowerCase();
  for (const key of ["caip2", "chainId", "slug", "name"] as const) {
    const found = chains.filter((chain) => String(chain[key]).toLowerCase() === lowerCaseName);
    if (found.length === 1) return found[0];
  }
  return undefined;
}

/** The error sentence for a name that matches none of `chains`. */
export function unknownChainMessage(chains: readonly NamedChain[], typed: string): string {
  const slugs = chains.map(({ slug }) => slug);
  const meant = closestMatch(typed, slugs);
  const remedy = meant === undefined ? `give one of ${slugs.join(", ")}.` : `did you mean ${meant}?`;
  return `The chain ${typed} is not configured; ${remedy}`;
}

/**
 * Resolves a chain id or an `eip155` CAIP-2 id. Public networks have their slug and name. Returns undefined for other
 * input.
 */
export function resolveChainId(typed: string): NamedChain | undefined {
  const id = /^(?:eip155:)?(\d{1,15})$/i.exec(typed)?.[1];
  if (id === undefined) return undefined;
  const chainId = Number(id);
  const { slug, name } = findKnownChain(chainId) ?? { slug: String(chainId), name: `Chain ${chainId}` };
  return { caip2: caip2("eip155", String(chainId)), chainId, slug, name };
}

/** The error sentence for a name that no network of the catalogue has. */
export function unknownNetworkMessage(networks: readonly NamedChain[], typed: string): string {
  const meant = closestMatch(
    typed,
    networks.map(({ slug }) => slug),
  );
  const remedy = meant === undefined ? "`tributary networks list` shows all." : `did you mean ${meant}?`;
  return `The catalogue has no network ${typed}; ${remedy}`;
}
