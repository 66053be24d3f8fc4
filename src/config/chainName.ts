import { closestMatch } from "../kernel/text/closestMatch.ts";
import { findKnownChain } from "./knownChains.ts";

// How a chain is named on the command line: in the same four ways by every command.

export type NamedChain = { caip2: string; chainId: number; slug: string; name: string };

/** For the help of what names a chain. */
export const CHAIN_NAME_FORMS = "slug, chain id, CAIP-2 or name";

/** Undefined when no chain has this name, or several have: a guess could move money on the wrong one. */
export function findChainByName<Chain extends NamedChain>(chains: readonly Chain[], name: string): Chain | undefined {
  const wanted = name.toLowerCase();
  for (const key of ["caip2", "chainId", "slug", "name"] as const) {
    const found = chains.filter((chain) => String(chain[key]).toLowerCase() === wanted);
    if (found.length === 1) return found[0];
  }
  return undefined;
}

/** The sentence about a name that none of `chains` has. */
export function unknownChainMessage(chains: readonly NamedChain[], typed: string): string {
  const slugs = chains.map(({ slug }) => slug);
  const meant = closestMatch(typed, slugs);
  const remedy = meant === undefined ? `there are ${slugs.join(", ")}.` : `did you mean ${meant}?`;
  return `The chain ${typed} is not configured; ${remedy}`;
}

/** The EVM chain of a chain id or CAIP-2 name, with slug and name where it is a public network; undefined when it is neither. */
export function resolveChainId(typed: string): NamedChain | undefined {
  const id = /^(?:eip155:)?(\d{1,15})$/i.exec(typed)?.[1];
  if (id === undefined) return undefined;
  const chainId = Number(id);
  const { slug, name } = findKnownChain(chainId) ?? { slug: String(chainId), name: `Chain ${chainId}` };
  return { caip2: `eip155:${chainId}`, chainId, slug, name };
}
