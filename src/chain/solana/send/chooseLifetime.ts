import type { Providers, ProviderReply } from "../../providers.ts";
import { ProviderFailed } from "../../reader.ts";
import type { SolanaNode } from "../node.ts";
import { fetchLifetime, isBlockhashValid, type Lifetime } from "./sendRequests.ts";

/**
 * A blockhash that another provider knows too, where there is one. Of several the lower middle last block counts: a
 * false one that is too high would keep a transaction open that can never be included.
 */
export async function chooseLifetime(providers: Providers<SolanaNode>): Promise<Lifetime> {
  const replies = await providers.runAll(fetchLifetime, "available");
  const offers = replies.flatMap((each) => ("answer" in each ? [{ provider: each.provider, ...each.answer }] : []));
  const sorted = offers.toSorted((one, other) => (one.lastValidHeight < other.lastValidHeight ? -1 : 1));
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw firstError(replies) ?? new ProviderFailed("unreachable", providers.name);
  for (const offer of [middle, ...sorted.filter((each) => each !== middle)]) {
    const others = sorted.filter(({ provider }) => provider !== offer.provider);
    for (const { provider } of others) {
      const isKnown = await providers
        .runWith(provider, (node) => isBlockhashValid(node, offer.blockhash))
        .catch(isNotKnown);
      if (isKnown) return offer;
    }
  }
  return middle;
}

function isNotKnown(error: unknown): boolean {
  if (error instanceof ProviderFailed) return false;
  throw error;
}

function firstError(replies: readonly ProviderReply<Lifetime>[]): Error | undefined {
  return replies.flatMap((each) => ("error" in each ? [each.error] : []))[0];
}
