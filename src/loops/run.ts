import type { World } from "../world.ts";
import { agreeDepositsLoop } from "./agreeDeposits.ts";
import { askDoubtsLoop } from "./askDoubts.ts";
import { bindCustomersLoop } from "./bindCustomers.ts";
import { countDepositsLoop } from "./countDeposits.ts";
import { followHeadsLoop, listenToFeedLoop } from "./followHeads.ts";
import { forgetAnswersLoop } from "./forgetAnswers.ts";
import { runLoop, type Loop } from "./loop.ts";
import { lookAtHintsLoop } from "./lookAtHints.ts";
import { settleLoop } from "./settle.ts";
import { stampEventsLoop } from "./stampEvents.ts";
import { watchChainLoop } from "./watchChain.ts";

/** Every loop of a world, those of one chain in the order in which rows are handed over. */
export function loopsOf(world: World): Loop[] {
  const loops: Loop[] = [stampEventsLoop(world), forgetAnswersLoop(world)];
  if (world.gate !== undefined) loops.push(bindCustomersLoop(world));
  for (const chain of world.chains.values()) {
    if (chain.feeds.length > 0) loops.push(followHeadsLoop(world, chain));
    loops.push(
      ...chain.feeds.map((feed) => listenToFeedLoop(world, chain, feed)),
      watchChainLoop(world, chain),
      askDoubtsLoop(world, chain),
      lookAtHintsLoop(world, chain),
      countDepositsLoop(world, chain.caip2),
      agreeDepositsLoop(world, chain),
      settleLoop(world, chain),
    );
  }
  return loops;
}

/**
 * Runs every loop until `signal` aborts and resolves when all have come to rest. Rejects at once when one of them finds the
 * program itself wrong; the process is then to end.
 */
export async function runLoops(world: World, signal: AbortSignal): Promise<void> {
  await Promise.all(loopsOf(world).map((loop) => runLoop(world, loop, signal)));
}
