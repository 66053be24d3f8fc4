import type { Chain } from "../chain/chain.ts";
import { memoryOf, type ChainMemory } from "./memory.ts";
import type { WatchWorld } from "./record.ts";

// Where a provider objects to what is recorded, nothing may hurry on: the way back is found by those who compare, at the chain's own interval.
// That costs the milliseconds that websockets are for, so it is told.

/** The providers because of whose objection heads that are told of are not followed. One that merely stands still knows no better. */
export function holdersOf({ objections }: Pick<ChainMemory, "objections">): string[] {
  return [...objections].flatMap(([provider, { isStuck }]) => (isStuck ? [] : [provider]));
}

/** Says once that they object, when it lasts for longer than one comparison: near the head that happens every day. And once that it is over. */
export function tellHolders(world: Pick<WatchWorld, "clock" | "log">, chain: Chain, nowMs: number): void {
  const memory = memoryOf(chain, world.clock);
  const holders = holdersOf(memory);
  const isLasting = holders.some((provider) => (memory.objections.get(provider)?.sinceMs ?? nowMs) < nowMs);
  const facts = { chain: chain.caip2, providers: holders };
  if (isLasting && !memory.isHoldTold) {
    world.log.warn(
      facts,
      "a provider objects to what is recorded: pushed heads are not followed, and blocks found by asking",
    );
    memory.isHoldTold = true;
  }
  if (holders.length > 0 || !memory.isHoldTold) return;
  const stuck = [...memory.objections.keys()];
  world.log.warn(
    { ...facts, stuck },
    "no provider objects any more, or it only stands still: pushed heads are followed again",
  );
  memory.isHoldTold = false;
}
