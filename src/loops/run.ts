import type { World } from "../world.ts";
import { countDepositsLoop } from "./countDeposits.ts";
import { runLoop, type Loop } from "./loop.ts";
import { settleLoop } from "./settle.ts";
import { stampEventsLoop } from "./stampEvents.ts";
import { watchChainLoop } from "./watchChain.ts";

/**
 * Runs every loop until `signal` aborts and resolves when all have come to rest. Rejects at once when one of them finds the
 * program itself wrong; the process is then to end.
 */
export async function runLoops(world: World, signal: AbortSignal): Promise<void> {
  const loops: Loop[] = [stampEventsLoop(world)];
  for (const chain of world.chains.values()) {
    loops.push(watchChainLoop(world, chain), countDepositsLoop(world, chain.caip2), settleLoop(world, chain));
  }
  await Promise.all(loops.map((loop) => runLoop(world, loop, signal)));
}
