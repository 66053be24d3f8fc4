import type { Chain } from "../../chain/chain.ts";
import { getChainMemory, type ChainMemory } from "../chainMemory.ts";
import type { WatchWorld } from "../store/applySegment.ts";

// While a provider objects to the recorded chain, pushed heads are ignored: reconcileCursor resolves the objection at
// poll intervals. That costs the latency advantage of websockets, so it is logged.

/** The providers whose objection stops pushed heads. A stuck provider does not count. */
export function objectingProviders({ objections }: Pick<ChainMemory, "objections">): string[] {
  return [...objections].flatMap(([provider, { isStuck }]) => (isStuck ? [] : [provider]));
}

/**
 * Logs the start once, when an objection lasts longer than one comparison, since short ones are common near the head.
 * Logs the end once.
 */
export function logHeadHold(world: Pick<WatchWorld, "clock" | "log" | "memory">, chain: Chain, nowMs: number): void {
  const memory = getChainMemory(world, chain);
  const objecting = objectingProviders(memory);
  const isLasting = objecting.some((provider) => (memory.objections.get(provider)?.sinceMs ?? nowMs) < nowMs);
  const facts = { chain: chain.caip2, providers: objecting };
  if (isLasting && !memory.isHoldLogged) {
    world.log.warn(
      facts,
      "a provider objects to the recorded chain; pushed heads are ignored and blocks found by polling",
    );
    memory.isHoldLogged = true;
  }
  if (objecting.length > 0 || !memory.isHoldLogged) return;
  const stuck = [...memory.objections.keys()];
  world.log.warn({ ...facts, stuck }, "no provider objects any more, or it is stuck; pushed heads are followed again");
  memory.isHoldLogged = false;
}
