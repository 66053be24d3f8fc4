import { parseArgs } from "node:util";
import { heading } from "./detect/statistics.ts";
import { benchBacklog, benchDelay, benchHanging, benchSigning } from "./webhooks/deliveries.ts";
import { benchPages, benchStreams } from "./webhooks/feeds.ts";
import { openBenchWorld, type Figure, type Sizes } from "./webhooks/benchWorld.ts";

// The feed and webhooks beside a bare loop that does the same without them, in the same run. Receivers, clients, the
// service and its database share the machine's cores.

const SMALL: Sizes = { requests: 200, events: 30, backlog: 500, hanging: 20, streams: 50, accounts: 5, pages: 20 };
const FULL: Sizes = {
  requests: 3_000,
  events: 300,
  backlog: 100_000,
  hanging: 100,
  streams: 1_000,
  accounts: 100,
  pages: 300,
};

/** `--backlog` chooses another size of the backlog, which takes the longest. */
export async function benchWebhooks(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { small: { type: "boolean", default: false }, backlog: { type: "string" } },
  });
  const chosen = values.small ? SMALL : FULL;
  const sizes = { ...chosen, backlog: Number(values.backlog ?? chosen.backlog) };
  console.log(heading());
  for (const bench of [benchSigning, benchDelay, benchHanging, benchBacklog, benchStreams, benchPages]) {
    const world = await openBenchWorld();
    try {
      for (const figure of await bench(world, sizes)) print(figure);
    } finally {
      await world.close();
    }
  }
}

function print({ what, ours, bare, unit, target, isAtLeast }: Figure): void {
  const ratio = ours / bare;
  const isReached = isAtLeast ? ratio >= target : ratio <= target;
  const verdict = `${isAtLeast ? "at least" : "at most"} ${target}: ${isReached ? "reached" : "missed"}`;
  console.log(`${what}: ${format(ours)} beside ${format(bare)} ${unit}, ${ratio.toFixed(2)} × (${verdict})`);
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
