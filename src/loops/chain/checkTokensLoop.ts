import type { Chain } from "../../chain/chain.ts";
import { checkTokens } from "../../watch/checkTokens.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** An issuer announces changes long before. */
const INTERVAL_MS = 3_600_000;
/** While a token is not as configured, so that its payouts go on soon after it is. */
const PROBLEM_INTERVAL_MS = 60_000;

/** Finds tokens that their issuer changed after the start. */
export function checkTokensLoop(world: World, chain: Chain): Loop {
  const loop: Loop = {
    name: `check tokens of ${chain.caip2}`,
    topic: `tokens:${chain.caip2}`,
    intervalMs: INTERVAL_MS,
    tick: async () => {
      const problems = await checkTokens(world, chain);
      loop.intervalMs = problems > 0 ? PROBLEM_INTERVAL_MS : INTERVAL_MS;
      return false;
    },
  };
  return loop;
}
