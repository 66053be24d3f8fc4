import { equal, ok, rejects } from "node:assert/strict";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { fc } from "../../../test/support/properties.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import type { ProviderProfile } from "../../../test/support/fakeProvider.ts";
import {
  START_BLOCK,
  openLimitedProviderHarness,
  PAYERS,
  TOKENS,
  FAILURE_WAIT_MS,
  type LimitedProviderHarness,
} from "../../../test/support/limitedProviderHarness.ts";
import { PROVIDER_PROFILES } from "../../../test/support/providerProfiles.ts";
import { catchUp } from "./catchUp.ts";
import { readScannerHealth } from "../scannerHealth.ts";

/** As deep as a single provider is trusted to have all logs, at the common block time. */
const REREAD_DEPTH = 16;

// Every payment is found through every provider that answers at all, whatever its limits and error texts.

describe("limits of providers", () => {
  let db: Db;
  let limited: LimitedProviderHarness;

  before(async () => {
    db = await openTestDatabase("postgres");
    limited = await openLimitedProviderHarness(db);
  });
  after(() => db.close());

  for (const [name, habits] of Object.entries(PROVIDER_PROFILES)) {
    test(`every payment is found through ${name}, once, and stays after the reread`, async (context) => {
      const chain = limited.newChain();
      const watching = await limited.outage(chain, 300, habits);
      context.after(() => watching.close());
      await watching.watchUntilHead();
      await limited.assertFound(chain);
      // A reread meets the same limits; its possible mistake is to deny another node's answer.
      if (habits.nodeLags === undefined) return;
      await limited.untilReread(watching, chain);
      await limited.assertFound(chain);
    });
  }

  for (const name of ["Alchemy, free", "Tenderly", "1RPC"]) {
    test(`with a settled size, a range through ${name} takes two requests, and few are refused`, async (context) => {
      const chain = limited.newChain();
      const watching = await limited.outage(chain, 400, PROVIDER_PROFILES[name] ?? {});
      context.after(() => watching.close());
      await watching.watchUntilHead();
      const [provider] = watching.providers;
      ok(provider);
      const before = { ...provider.counts };
      limited.mine(chain, 400);
      const { number, hash } = await watching.cursor();
      await catchUp(watching.world, watching.chain, {
        cursor: { number, hash },
        headNumber: BigInt(chain.head.number),
      });
      const answered = provider.counts.rangeReplies - before.rangeReplies;
      const refused = provider.counts.rangeRequests - before.rangeRequests - answered;
      ok(answered > 0 && refused <= 1 + answered / 10, `${refused} were refused and ${answered} answered`);
      const requests = provider.counts.requests - before.requests;
      // One more request checks that the provider has the last block.
      ok(requests <= 1 + 2 * answered + refused, `${answered} ranges took ${requests} requests`);
    });
  }

  test("a reread finds the transfers that a lagging node omitted", async (context) => {
    const chain = limited.newChain();
    const watching = await limited.outage(chain, 400, { nodeLags: [0, 0, 0, 60], beyondHead: "empty" });
    context.after(() => watching.close());
    await watching.watchUntilHead();
    await limited.untilReread(watching, chain);
    await limited.assertFound(chain);
  });

  test("where blocks are final at once, a lagging node orphans nothing", async (context) => {
    const chain = limited.newChain();
    const watching = await limited.outage(chain, 60, {
      nodeLags: [0, 4, 4],
      beyondHead: "empty",
      finality: { safe: 1, final: 1 },
    });
    context.after(() => watching.close());
    for (let mined = 0; mined < 30; mined += 1) {
      const [token = "", from = "", to = ""] = [TOKENS[0], PAYERS[0], limited.inboxes[0]];
      chain.mine([[{ token, from, to, amountUnits: 7n }]]);
      await watching.watchUntilHead();
      await watching.look().catch(() => undefined);
    }
    // A movement missing now stays missing: final blocks are never read a third time.
    for (const provider of watching.providers) provider.profile = { finality: { safe: 1, final: 1 } };
    const { number } = chain.head;
    for (let mined = 0; mined < REREAD_DEPTH; mined += 1) chain.mine();
    await watching.watchUntilReread(number);
    await limited.assertFound(chain);
  });

  for (const [methods, error] of [
    ["logs", { code: -32005, message: "limit exceeded" }],
    ["logs", { code: -32000, message: "block range is too wide" }],
    ["all", { code: -32000, message: "daily request count exceeded", status: 429 }],
  ] as const) {
    test(`a provider that refuses ${methods} with "${error.message}" is logged, and no block is skipped`, async (context) => {
      const chain = limited.newChain();
      const watching = await limited.outage(chain, 100, {});
      context.after(() => watching.close());
      const caip2: Caip2 = `eip155:${chain.chainId}`;
      equal((await readScannerHealth(watching.world)).get(caip2), true);
      const [provider] = watching.providers;
      ok(provider);
      provider.profile = { rejects: { methods, error } };
      for (let looks = 0; looks < 5; looks += 1) {
        await rejects(watching.look(), ProviderFailed);
        watching.passed.ms += FAILURE_WAIT_MS;
      }
      equal((await readScannerHealth(watching.world)).get(caip2), false);
      equal((await watching.cursor()).number, BigInt(START_BLOCK));
      provider.profile = {};
      await watching.watchUntilHead();
      equal((await readScannerHealth(watching.world)).get(caip2), true);
      await limited.assertFound(chain);
    });
  }

  const many = { max: 70, buildError: () => ({ code: -32005, message: "query returned more than 70 results" }) };
  const noReceipts = { code: -32601, message: "the method eth_getBlockReceipts does not exist/is not available" };
  for (const [what, habits, count] of [
    [
      "provider returns at once, but not of one token",
      { results: many, rejects: { methods: "receipts", error: noReceipts } },
      150,
    ],
    ["provider ever returns", { results: many }, 400],
  ] as const) {
    for (const [where, blocks] of [
      ["near the head", 3],
      ["in an outage", 80],
    ] as const) {
      test(`every transfer is found in a block ${where} with more transfers than a ${what}, also in the reread`, async (context) => {
        const chain = limited.newChain();
        const watching = await limited.outage(chain, 0, habits);
        context.after(() => watching.close());
        limited.mine(chain, 2);
        limited.mineFull(chain, count);
        limited.mine(chain, blocks);
        await watching.watchUntilHead();
        await limited.assertFound(chain);
        await limited.untilReread(watching, chain);
        await limited.assertFound(chain);
      });
    }
  }

  test("any mixture of provider behaviours gives the same movements", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyHabits, { minLength: 1, maxLength: 2 }),
        fc.integer({ min: 40, max: 500 }),
        async (habits, blocks) => {
          const chain = limited.newChain();
          const watching = await limited.outage(chain, blocks, ...habits);
          try {
            await watching.watchUntilHead();
            await limited.untilReread(watching, chain);
            await limited.assertFound(chain);
          } finally {
            await watching.close();
          }
        },
      ),
      { numRuns: MIXTURES, seed: 2_026, endOnFailure: true },
    );
  });
});

const MIXTURES = Number(process.env["TRIBUTARY_MIXTURES"] ?? 4);

/** Behaviours that may occur together. */
const anyHabits: fc.Arbitrary<ProviderProfile> = fc
  .record({
    blocks: fc.integer({ min: 3, max: 300 }),
    results: fc.integer({ min: 30, max: 800 }),
    gives: fc.integer({ min: 20, max: 400 }),
    rate: fc.integer({ min: 10, max: 60 }),
    cuts: fc.integer({ min: 10, max: 60 }),
    lag: fc.integer({ min: 0, max: 60 }),
    isBeyondTold: fc.boolean(),
    calls: fc.constantFrom(0, 3, 10, 100),
    isReordered: fc.boolean(),
    uses: fc.uniqueArray(fc.constantFrom("blocks", "results", "gives", "rate", "cuts", "batches"), { maxLength: 4 }),
  })
  .map((drawn) => habitsOf(drawn));

type Drawn = {
  blocks: number;
  results: number;
  gives: number;
  rate: number;
  cuts: number;
  lag: number;
  isBeyondTold: boolean;
  calls: number;
  isReordered: boolean;
  uses: readonly ("blocks" | "results" | "gives" | "rate" | "cuts" | "batches")[];
};

function habitsOf({ uses, ...drawn }: Drawn): ProviderProfile {
  const range = { code: -32602, message: "invalid block range params" };
  const batch = { code: -32005, message: "Number of requests exceeds max batch size" };
  const full: Record<Drawn["uses"][number], ProviderProfile> = {
    blocks: { blocks: { max: drawn.blocks, buildError: () => ({ code: -32600, message: "block range is too wide" }) } },
    results: { results: { max: drawn.results, buildError: () => ({ code: -32000, message: "too many results" }) } },
    gives: { gatewayTimeout: { blocks: drawn.gives, status: 504 } },
    rate: { rate: { oneIn: drawn.rate, error: { code: 429, message: "Too many requests" }, retryAfterS: 2 } },
    cuts: { truncates: { oneIn: drawn.cuts } },
    batches: { batches: { callsMax: drawn.calls, error: batch, isReordered: drawn.isReordered } },
  };
  const nodes = [0, 0, 0, drawn.lag];
  return Object.assign(
    { nodes, beyondHead: drawn.isBeyondTold ? range : "empty" },
    ...uses.map((use) => full[use]),
  ) as ProviderProfile;
}
