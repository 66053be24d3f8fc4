import type { Chain } from "../../chain/chain.ts";
import { computePace, computePercent } from "./pace.ts";
import { getChainMemory } from "../chainMemory.ts";
import type { World } from "../../world.ts";
import type { WatchWorld } from "../store/applySegment.ts";

// Whoever reads the log after an outage wants to know how long it still takes. What is caught up with in a few seconds is not worth a line.

/** A catch-up is told of so often. */
const LOG_INTERVAL_MS = 5_000;

type LogWorld = Pick<WatchWorld, "clock" | "log" | "memory">;

/** Where the catch-up of a chain that is under way in this process began; undefined where none is. */
export function findCatchUpStart(world: Pick<World, "clock" | "memory">, chain: Chain): bigint | undefined {
  return getChainMemory(world, chain).catchUp?.start.recorded;
}

/** Tells from time to time how far a chain has been caught up with; called as often as it moves. */
export function logCatchUp(world: LogWorld, chain: Chain, at: { recorded: bigint; head: bigint }): void {
  const mark = { ...at, atMs: world.clock.monotonicMs() };
  const memory = getChainMemory(world, chain);
  const { catchUp: journey } = memory;
  if (journey === undefined) {
    memory.catchUp = { start: mark, lastLogged: mark, isLogged: false };
    return;
  }
  if (mark.atMs - journey.lastLogged.atMs < LOG_INTERVAL_MS) return;
  const pace = computePace(journey.lastLogged, mark);
  world.log.info(
    {
      chain: chain.caip2,
      from: String(journey.start.recorded),
      block: String(at.recorded),
      to: String(at.head),
      percent: computePercent(journey.start.recorded, at),
      blocksPerS: Math.round(pace?.blocksPerS ?? 0),
      leftS: pace?.remainingMs === undefined ? null : Math.ceil(pace.remainingMs / 1_000),
    },
    "catching up",
  );
  journey.lastLogged = mark;
  journey.isLogged = true;
}

/** Says that the head is reached, where it was told before that it was not. */
export function logCaughtUp(world: LogWorld, chain: Chain, recorded: bigint): void {
  const memory = getChainMemory(world, chain);
  const { catchUp: journey } = memory;
  if (journey === undefined) return;
  memory.catchUp = undefined;
  if (!journey.isLogged) return;
  const passedS = (world.clock.monotonicMs() - journey.start.atMs) / 1_000;
  const from = journey.start.recorded;
  world.log.info(
    { chain: chain.caip2, from: String(from), block: String(recorded), tookS: Math.round(passedS) },
    "caught up with the chain",
  );
}
