import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { computePace, computePercent, type ProgressSample } from "./pace.ts";
import type { World } from "../../world.ts";
import type { WatchWorld } from "../watchWorld.ts";

// After an outage, operators want to know the remaining time. A catch-up of a few seconds is not logged.

/** Interval of log lines, in milliseconds. */
const LOG_INTERVAL_MS = 5_000;

/** `lastLogged`: the sample of the last log line, or the start. */
type CatchUp = { start: ProgressSample; lastLogged: ProgressSample; isLogged: boolean };
const currentCatchUp = perChain(() => ({ catchUp: undefined as CatchUp | undefined }));

type LogWorld = Pick<WatchWorld, "clock" | "log" | "memory">;

/** The block at which this process's current catch-up started; undefined when there is none. */
export function findCatchUpStart(world: Pick<World, "clock" | "memory">, chain: Chain): bigint | undefined {
  return currentCatchUp(world, chain).catchUp?.start.recorded;
}

/** Logs the progress of a catch-up at intervals. Callers report every advance. */
export function logCatchUp(world: LogWorld, chain: Chain, at: { recorded: bigint; head: bigint }): void {
  const mark = { ...at, atMs: world.clock.monotonicMs() };
  const current = currentCatchUp(world, chain);
  const { catchUp } = current;
  if (catchUp === undefined) {
    current.catchUp = { start: mark, lastLogged: mark, isLogged: false };
    return;
  }
  if (mark.atMs - catchUp.lastLogged.atMs < LOG_INTERVAL_MS) return;
  const pace = computePace(catchUp.lastLogged, mark);
  world.log.info(
    {
      chain: chain.caip2,
      from: String(catchUp.start.recorded),
      block: String(at.recorded),
      to: String(at.head),
      percent: computePercent(catchUp.start.recorded, at),
      blocksPerS: Math.round(pace?.blocksPerS ?? 0),
      leftS: pace?.remainingMs === undefined ? null : Math.ceil(pace.remainingMs / 1_000),
    },
    "catching up",
  );
  catchUp.lastLogged = mark;
  catchUp.isLogged = true;
}

/** Logs that the head is reached, when a progress line was logged before. */
export function logCaughtUp(world: LogWorld, chain: Chain, recorded: bigint): void {
  const current = currentCatchUp(world, chain);
  const { catchUp } = current;
  if (catchUp === undefined) return;
  current.catchUp = undefined;
  if (!catchUp.isLogged) return;
  const passedS = (world.clock.monotonicMs() - catchUp.start.atMs) / 1_000;
  const from = catchUp.start.recorded;
  world.log.info(
    { chain: chain.caip2, from: String(from), block: String(recorded), tookS: Math.round(passedS) },
    "caught up with the chain",
  );
}
