import type { ProviderHints } from "../../health/providerHints.ts";
import type { Caip2 } from "../../kernel/caip.ts";

/** `isOpen`: whether this process has the secret, so that it takes hints. `lastAt` is null before the first one. */
export type HintOutput = { provider: string; isOpen: boolean; lastAt: string | null };

export function hintsOf(all: readonly ProviderHints[], chain: Caip2): HintOutput[] {
  return all
    .filter((hint) => hint.chain === chain)
    .map(({ provider, isOpen, lastAt }) => ({ provider, isOpen, lastAt: lastAt?.toISOString() ?? null }));
}
