import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { pino } from "pino";
import { buildCatalog, type Catalog } from "../catalog/catalog.ts";
import { openChain } from "../chain/chain.ts";
import { ProviderFailed } from "../chain/driver.ts";
import { openEvmDriver } from "../chain/evm/driver.ts";
import { openGasAccount } from "../chain/evm/gasAccount.ts";
import type { ChainConfig } from "../config.ts";
import type { Db } from "../db/database.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs, systemClock } from "../kernel/clock.ts";
import { createWake } from "../kernel/wake.ts";
import { openTestDatabase } from "../../test/support/database.ts";
import { FakeChain, type FakeTransfer } from "../../test/support/fakeChain.ts";
import { openFakeProvider, type FakeProvider, type Habits } from "../../test/support/fakeProvider.ts";
import { insertIntent } from "../../test/support/intents.ts";
import { PRODUCTS } from "../../test/support/products.ts";
import { catchUp } from "./catchUp.ts";
import { readScannerHealth } from "./health.ts";
import { REREAD_DEPTH_MIN } from "./rereadFinal.ts";
import { watchChain } from "./watchChain.ts";

// What is paid is found through every provider that answers at all, whatever it limits, in whatever words it says so.

const TOKENS = ["c1", "c2", "c3"].map((byte) => `0x${byte.repeat(20)}`);
const PAYERS = ["a1", "a2", "a3"].map((byte) => `0x${byte.repeat(20)}`);
const INBOXES = 6;
const BEGINS_AT = 40;
/** How deep a block must lie for the fake nodes to call it final. */
const FINAL_BLOCKS = 64;
const LOOKS_MAX = 1_500;
/** Where a look says that there is nothing more at once, so much passes until the next. */
const POLL_MS = 6_000;
/** A failure lets so much time pass, and so ends every rest of a provider. */
const WAIT_MS = 61_000;

describe("limits of providers", () => {
  let db: Db;
  let inboxes: string[];
  let chainCount = 0;

  before(async () => {
    db = await openTestDatabase("pglite");
    inboxes = [];
    for (let made = 0; made < INBOXES; made += 1) inboxes.push((await insertIntent(db)).inbox_address);
  });
  after(() => db.close());

  /** A chain of its own, with transfers of strangers in every block and payments into inboxes and out of them in some. */
  function newChain(): FakeChain {
    chainCount += 1;
    return new FakeChain(900_000 + chainCount);
  }
  function mine(chain: FakeChain, blocks: number): void {
    for (let mined = 0; mined < blocks; mined += 1) chain.mine(transactionsAt(chain.blocks.length));
  }
  function transactionsAt(number: number): FakeTransfer[][] {
    const pick = <T>(among: readonly T[], by: number) => among[(number * 7 + by) % among.length] as T;
    const stranger = (by: number) => ({
      token: pick(TOKENS, by),
      from: pick(PAYERS, by),
      to: pick(PAYERS, by + 1),
      amountUnits: 1n,
    });
    const transactions: FakeTransfer[][] = [[stranger(0)], [stranger(1)]];
    // Some blocks hold many times what the others do.
    if (number % 97 === 0) for (let by = 0; by < 60; by += 1) transactions.push([stranger(by)]);
    if (number % 23 === 0) {
      const inbox = pick(inboxes, Math.floor(number / 23));
      const paid = { ...stranger(2), to: inbox, amountUnits: BigInt(number) };
      transactions.push([stranger(3), paid]);
      if (number % 46 === 0) transactions.unshift([{ ...paid, from: inbox, to: pick(PAYERS, 4) }, paid]);
    }
    return transactions;
  }

  /** Watches a chain through providers of given habits. Time passes only when a look has failed. */
  async function watch(chain: FakeChain, ...habits: readonly Habits[]) {
    const caip2: Caip2 = `eip155:${chain.chainId}`;
    const providers: FakeProvider[] = [];
    for (const [index, each] of habits.entries()) providers.push(await openFakeProvider(chain, each, index + 1));
    const passed = { ms: 0 };
    const clock = {
      ...systemClock,
      now: () => addMs(systemClock.now(), passed.ms),
      monotonicMs: () => systemClock.monotonicMs() + passed.ms,
    };
    const log = pino({ level: "silent" });
    const drivers = providers.map(({ url }) => openEvmDriver({ caip2, rpcUrl: url }));
    const [first, ...others] = drivers;
    ok(first);
    const watched = openChain(
      { drivers: [first, ...others], gasAccount: openGasAccount(`0x${"11".repeat(32)}`) },
      { clock, log },
    );
    const world = { db, clock, wake: createWake(clock), catalog: catalogOf(chain), log };
    const look = () => watchChain(world, watched);
    const cursor = () =>
      db.read.selectFrom("chain_cursor").selectAll().where("chain", "=", caip2).executeTakeFirstOrThrow();

    async function lookUntil(isDone: () => Promise<boolean>): Promise<number> {
      for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
        try {
          const outcome = await look();
          if (await isDone()) return looks;
          if (!outcome.isBehind) passed.ms += POLL_MS;
        } catch (error) {
          if (!(error instanceof ProviderFailed)) throw error;
          passed.ms += WAIT_MS;
        }
      }
      const { number, reread_number: reread } = await cursor();
      throw new Error(`it never arrived: at ${number}, read again up to ${reread}, of ${chain.head.number}`);
    }
    return {
      world,
      passed,
      chain: watched,
      providers,
      look,
      cursor,
      untilHead: () => lookUntil(async () => (await cursor()).hash === chain.head.hash),
      untilReread: (number: number) => lookUntil(async () => (await cursor()).reread_number >= BigInt(number)),
      close: async () => {
        await Promise.all(drivers.map((driver) => driver.close()));
        await Promise.all(providers.map((provider) => provider.close()));
      },
    };
  }

  async function recorded(chain: FakeChain): Promise<string[]> {
    const rows = await db.read
      .selectFrom("movement")
      .selectAll()
      .where("chain", "=", `eip155:${chain.chainId}`)
      .where("orphaned_at", "is", null)
      .execute();
    return rows
      .map((row) => {
        const parties = row.direction === "in" ? [row.counterparty, row.inbox] : [row.inbox, row.counterparty];
        return [
          row.block_number,
          row.block_hash,
          row.chain_tx,
          row.position,
          row.token,
          ...parties,
          row.amount_units,
        ].join();
      })
      .toSorted();
  }
  /** Each movement that only one of the two knows. */
  async function assertFound(chain: FakeChain): Promise<void> {
    const [told, expected] = [new Set(await recorded(chain)), new Set(paid(chain))];
    deepEqual(
      { lacking: [...expected.difference(told)], tooMuch: [...told.difference(expected)] },
      { lacking: [], tooMuch: [] },
    );
  }
  function paid(chain: FakeChain): string[] {
    return chain
      .movementsOf(new Set(inboxes), BEGINS_AT)
      .map((one) =>
        [
          one.blockNumber,
          one.blockHash,
          one.chainTx,
          one.position,
          one.token,
          one.from,
          one.to,
          one.amountUnits,
        ].join(),
      )
      .toSorted();
  }

  /** Begins, is away while `blocks` are mined, and comes back. */
  async function outage(chain: FakeChain, blocks: number, ...habits: readonly Habits[]) {
    mine(chain, BEGINS_AT);
    const watching = await watch(chain, ...habits.map(() => ({})));
    await watching.look();
    mine(chain, blocks);
    for (const [index, each] of habits.entries()) (watching.providers[index] as FakeProvider).habits = each;
    return watching;
  }

  /** Mines so many blocks near the head that all before them are final, and lets them be read again. */
  async function untilReread(watching: Awaited<ReturnType<typeof watch>>, chain: FakeChain): Promise<void> {
    const last = chain.head.number;
    // Only blocks that are known can be called final, and of those that were read by ranges just the last one of each is.
    for (let step = 0; step < FINAL_BLOCKS + 16; step += 16) {
      mine(chain, 16);
      await watching.untilHead();
    }
    await watching.untilReread(last);
  }

  for (const [name, habits] of Object.entries(PRODUCTS)) {
    test(`everything is found through ${name}, once, and stays when it is read again`, async (context) => {
      const chain = newChain();
      const watching = await outage(chain, 300, habits);
      context.after(() => watching.close());
      await watching.untilHead();
      await assertFound(chain);
      // A second reading meets the same limits; what it may do wrong is to deny what another node has told.
      if (habits.nodes === undefined) return;
      await untilReread(watching, chain);
      await assertFound(chain);
    });
  }

  for (const name of ["Alchemy, free", "Tenderly", "1RPC"]) {
    test(`once the size has settled, a range through ${name} is two requests, and hardly one is refused`, async (context) => {
      const chain = newChain();
      const watching = await outage(chain, 400, PRODUCTS[name] ?? {});
      context.after(() => watching.close());
      await watching.untilHead();
      const [provider] = watching.providers;
      ok(provider);
      const before = { ...provider.counts };
      mine(chain, 400);
      const { number, hash } = await watching.cursor();
      await catchUp(watching.world, watching.chain, {
        cursor: { number, hash },
        headNumber: BigInt(chain.head.number),
      });
      const answered = provider.counts.rangesAnswered - before.rangesAnswered;
      const refused = provider.counts.ranges - before.ranges - answered;
      ok(answered > 0 && refused <= 1 + answered / 10, `${refused} were refused and ${answered} answered`);
      const requests = provider.counts.requests - before.requests;
      // One more asks beforehand whether the provider knows the end of it all.
      ok(requests <= 1 + 2 * answered + refused, `${answered} ranges took ${requests} requests`);
    });
  }

  test("a node far behind makes a range seem whole: what it lacked is found by the second reading", async (context) => {
    const chain = newChain();
    const watching = await outage(chain, 400, { nodes: [0, 0, 0, 60], beyondHead: "empty" });
    context.after(() => watching.close());
    await watching.untilHead();
    await untilReread(watching, chain);
    await assertFound(chain);
  });

  test("where blocks are final at once, a node that lags takes nothing back", async (context) => {
    const chain = newChain();
    const watching = await outage(chain, 60, {
      nodes: [0, 4, 4],
      beyondHead: "empty",
      finality: { safe: 1, final: 1 },
    });
    context.after(() => watching.close());
    for (let mined = 0; mined < 30; mined += 1) {
      const [token = "", from = "", to = ""] = [TOKENS[0], PAYERS[0], inboxes[0]];
      chain.mine([[{ token, from, to, amountUnits: 7n }]]);
      await watching.untilHead();
      await watching.look().catch(() => undefined);
    }
    // What it has lost by now is lost: nothing that is final is read a third time.
    for (const provider of watching.providers) provider.habits = { finality: { safe: 1, final: 1 } };
    const { number } = chain.head;
    for (let mined = 0; mined < REREAD_DEPTH_MIN; mined += 1) chain.mine();
    await watching.untilReread(number);
    await assertFound(chain);
  });

  for (const [what, refuse] of [
    ["logs", { code: -32005, message: "limit exceeded" }],
    ["logs", { code: -32000, message: "block range is too wide" }],
    ["all", { code: -32000, message: "daily request count exceeded", status: 429 }],
  ] as const) {
    test(`a provider that refuses ${what} with "${refuse.message}" is told, and nothing is passed over`, async (context) => {
      const chain = newChain();
      const watching = await outage(chain, 100, {});
      context.after(() => watching.close());
      const caip2: Caip2 = `eip155:${chain.chainId}`;
      equal((await readScannerHealth(watching.world)).get(caip2), true);
      const [provider] = watching.providers;
      ok(provider);
      provider.habits = { refuses: { what, refuse } };
      for (let looks = 0; looks < 5; looks += 1) {
        await rejects(watching.look(), ProviderFailed);
        watching.passed.ms += WAIT_MS;
      }
      equal((await readScannerHealth(watching.world)).get(caip2), false);
      equal((await watching.cursor()).number, BigInt(BEGINS_AT));
      provider.habits = {};
      await watching.untilHead();
      equal((await readScannerHealth(watching.world)).get(caip2), true);
      await assertFound(chain);
    });
  }

  test("through any mixture of habits the same is recorded", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyHabits, { minLength: 1, maxLength: 2 }),
        fc.integer({ min: 40, max: 500 }),
        async (habits, blocks) => {
          const chain = newChain();
          const watching = await outage(chain, blocks, ...habits);
          try {
            await watching.untilHead();
            await untilReread(watching, chain);
            await assertFound(chain);
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

/** Habits as they may come together. What a single block holds is always answered. */
const anyHabits: fc.Arbitrary<Habits> = fc
  .record({
    blocks: fc.integer({ min: 3, max: 300 }),
    results: fc.integer({ min: 140, max: 800 }),
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

function habitsOf({ uses, ...drawn }: Drawn): Habits {
  const range = { code: -32602, message: "invalid block range params" };
  const batch = { code: -32005, message: "Number of requests exceeds max batch size" };
  const full: Record<Drawn["uses"][number], Habits> = {
    blocks: { blocks: { most: drawn.blocks, refuse: () => ({ code: -32600, message: "block range is too wide" }) } },
    results: { results: { most: drawn.results, refuse: () => ({ code: -32000, message: "too many results" }) } },
    gives: { givesUp: { blocks: drawn.gives, status: 504 } },
    rate: { rate: { of: drawn.rate, refuse: { code: 429, message: "Too many requests" }, retryAfterS: 2 } },
    cuts: { cuts: { of: drawn.cuts } },
    batches: { batches: { calls: drawn.calls, refuse: batch, isReordered: drawn.isReordered } },
  };
  const nodes = [0, 0, 0, drawn.lag];
  return Object.assign(
    { nodes, beyondHead: drawn.isBeyondTold ? range : "empty" },
    ...uses.map((use) => full[use]),
  ) as Habits;
}

function catalogOf({ chainId }: FakeChain): Catalog {
  const config: ChainConfig = {
    caip2: `eip155:${chainId}`,
    chainId,
    name: "Fake",
    slug: "fake",
    rpcUrls: ["http://127.0.0.1:1"],
    publicRpcUrl: "",
    explorerUrl: "",
    native: { name: "Ether", symbol: "ETH", decimals: 18 },
    gasKey: `0x${"11".repeat(32)}`,
    pollMs: 250,
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    settleAfterMs: 0,
    settleBatchMax: 100,
    tokens: TOKENS.map((address, index) => ({
      symbol: `T${index}`,
      slug: `t${index}`,
      address,
      decimals: 6,
      minimumUnits: 0n,
      isOrigin: true,
      isRail: true,
    })),
    defaultToken: "T0",
  };
  return buildCatalog({ chains: [config], defaultRail: "fake:t0" });
}
