import type { Chain } from "../../chain/chain.ts";
import { getChainMemory, type ChainMemory } from "../chainMemory.ts";
import type { WatchWorld } from "../store/applySegment.ts";

// Where a provider objects to what is recorded, nothing may hurry on: the way back is found by those who compare, at the chain's own interval.
// That costs the milliseconds that websockets are for, so it is told.

/** The providers because of whose objection heads that are told of are not followed. One that merely stands still knows no better. */
export function objectingProviders({ objections }: Pick<ChainMemory, "objections">): string[] {
  return [...objections].flatMap(([provider, { isStuck }]) => (isStuck ? [] : [provider]));
}

/** Says once that they object, when it lasts for longer than one comparison: near the head that happens every day. And once that it is over. */
export function logHeadHold(world: Pick<WatchWorld, "clock" | "log" | "memory">, chain: Chain, nowMs: number): void {
  const memory = getChainMemory(world, chain);
  const objecting = objectingProviders(memory);
  const isLasting = objecting.some((provider) => (memory.objections.get(provider)?.sinceMs ?? nowMs) < nowMs);
  const facts = { chain: chain.caip2, providers: objecting };
  if (isLasting && !memory.isHoldLogged) {
    world.log.warn(
      facts,
      "a provider objects to what is recorded: pushed heads are not followed, and blocks found by asking",
    );
    memory.isHoldLogged = true;
  }
  if (objecting.length > 0 || !memory.isHoldLogged) return;
  const stuck = [...memory.objections.keys()];
  world.log.warn(
    { ...facts, stuck },
    "no provider objects any more, or it only stands still: pushed heads are followed again",
  );
  memory.isHoldLogged = false;
}
