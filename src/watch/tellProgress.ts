import type { Chain } from "../chain/chain.ts";
import { paceBetween, percentDone, type Mark } from "./pace.ts";
import type { WatchWorld } from "./record.ts";

// Whoever reads the log after an outage wants to know how long it still takes. What is caught up with in a few seconds is not worth a line.

/** A catch-up is told of so often. */
const TELL_MS = 5_000;

type TellWorld = Pick<WatchWorld, "clock" | "log">;
/** `told`: the mark at which the last line was written, or at which it all began. */
type Journey = { begun: Mark; told: Mark; isTold: boolean };

const journeys = new WeakMap<Chain, Journey>();

/** Where the catch-up of a chain that is under way in this process began; undefined where none is. */
export function findBeginning(chain: Chain): bigint | undefined {
  return journeys.get(chain)?.begun.recorded;
}

/** Tells from time to time how far a chain has been caught up with; called as often as it moves. */
export function tellProgress(world: TellWorld, chain: Chain, at: { recorded: bigint; head: bigint }): void {
  const mark = { ...at, atMs: world.clock.monotonicMs() };
  const journey = journeys.get(chain);
  if (journey === undefined) {
    journeys.set(chain, { begun: mark, told: mark, isTold: false });
    return;
  }
  if (mark.atMs - journey.told.atMs < TELL_MS) return;
  const pace = paceBetween(journey.told, mark);
  world.log.info(
    {
      chain: chain.caip2,
      from: String(journey.begun.recorded),
      block: String(at.recorded),
      to: String(at.head),
      percent: percentDone(journey.begun.recorded, at),
      blocksPerS: Math.round(pace?.blocksPerS ?? 0),
      leftS: pace?.leftMs === undefined ? null : Math.ceil(pace.leftMs / 1_000),
    },
    "catching up",
  );
  journey.told = mark;
  journey.isTold = true;
}

/** Says that the head is reached, where it was told before that it was not. */
export function tellArrival(world: TellWorld, chain: Chain, recorded: bigint): void {
  const journey = journeys.get(chain);
  if (journey === undefined) return;
  journeys.delete(chain);
  if (!journey.isTold) return;
  const passedS = (world.clock.monotonicMs() - journey.begun.atMs) / 1_000;
  const from = journey.begun.recorded;
  world.log.info(
    { chain: chain.caip2, from: String(from), block: String(recorded), tookS: Math.round(passedS) },
    "caught up with the chain",
  );
}
