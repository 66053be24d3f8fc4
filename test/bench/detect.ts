import { parseArgs } from "node:util";
import { benchBackfillOnAnvil, type DetectOptions } from "./detect/backfill.ts";
import { startChainWithTransfers } from "./detect/chain.ts";
import { benchIndexers } from "./detect/benchIndexers.ts";
import { openBackfillFixture } from "./detect/backfillFixture.ts";
import { heading } from "./detect/statistics.ts";

// Measures detection latency: after an outage, at the chain's head, and with more and more inboxes.

const PARTS = ["backfill", "rivals", "live", "memory", "growth", "solana", "accounts"] as const;
type Part = (typeof PARTS)[number];

const RUNS = 5;
/**
 * With the first, `finalized` stays below the busy blocks, as with slow finality; with the second, it is just below the
 * head.
 */
const SLOTS_YOUNG = 1_500;
const SLOTS_FINAL = 1;

/** The parts that need no anvil with 100,000 transfers, each loaded on demand. */
const OTHERS: Readonly<Record<string, () => Promise<unknown>>> = {
  live: async () => (await import("./detect/live.ts")).benchLive(),
  memory: async () => (await import("./detect/memory.ts")).benchMemory(),
  growth: async () => (await import("./detect/growth.ts")).benchGrowth(),
  solana: async () => (await import("./detect/liveSolana.ts")).benchLiveSolana(),
  accounts: async () => (await import("./detect/manyAccounts.ts")).benchManyAccounts(),
};

const USAGE = `Usage: npm run bench -- detect [--only=${PARTS.join("|")}] [--runs=${RUNS}] [--profiles=FOLDER]

  --only      comma-separated parts; all parts by default
  --runs      runs per side; the output shows medians
  --profiles  writes a CPU profile of one run per database into FOLDER, for Chromium's DevTools`;

export async function benchDetect(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      only: { type: "string", default: PARTS.join(",") },
      runs: { type: "string", default: String(RUNS) },
      profiles: { type: "string" },
      small: { type: "boolean" },
      help: { type: "boolean", default: false },
    },
  });
  const only = values.only.split(",");
  const options = { runs: Number(values.runs), profiles: values.profiles };
  const isInvalid = only.some((part) => !PARTS.includes(part as Part)) || !(options.runs >= 1);
  if (values.help || isInvalid) {
    console.log(USAGE);
    process.exitCode = isInvalid ? 2 : 0;
    return;
  }
  console.log(heading({ anvil: "1.7.1" }));
  if (only.includes("backfill") || only.includes("rivals")) await onAnvil(only, options);
  for (const [part, bench] of Object.entries(OTHERS)) {
    if (!only.includes(part)) continue;
    console.log("");
    await bench();
  }
}

async function onAnvil(only: readonly string[], options: DetectOptions): Promise<void> {
  const fixture = await openBackfillFixture();
  const chain = await startChainWithTransfers({ slotsInAnEpoch: SLOTS_YOUNG });
  try {
    if (only.includes("backfill")) {
      const finalChain = await startChainWithTransfers({ slotsInAnEpoch: SLOTS_FINAL });
      try {
        await benchBackfillOnAnvil({ chain, finalChain }, fixture, options);
      } finally {
        await finalChain.stop();
      }
    }
    if (only.includes("rivals")) await benchIndexers(chain, fixture, options);
  } finally {
    await chain.stop();
    await fixture.close();
  }
}
