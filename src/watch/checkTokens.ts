import { findWatchedChain } from "../catalog/catalog.ts";
import type { Chain } from "../chain/chain.ts";
import { listTokenProblems, setTokenProblems } from "../chain/tokenProblems.ts";
import type { World } from "../world.ts";

/**
 * Reads the tokens of a chain again. Origins of a token with a problem issue no source inboxes in this process until a
 * later check finds the token right. Returns the number of problems. Throws ProviderFailed when no provider answers.
 */
export async function checkTokens(world: Pick<World, "memory" | "catalog" | "log">, chain: Chain): Promise<number> {
  const config = findWatchedChain(world.catalog, chain.caip2);
  if (config === undefined || chain.sender.checkTokens === undefined) return 0;
  const before = listTokenProblems(world, chain.caip2);
  const problems = await chain.sender.checkTokens(config);
  setTokenProblems(world, chain.caip2, problems);
  for (const { token } of before)
    if (!problems.some((problem) => problem.token === token))
      world.log.info({ chain: chain.caip2, token }, "a token is as configured again");
  return problems.length;
}
