import { deepEqual, ok } from "node:assert/strict";
import { pino } from "pino";
import { buildCatalog, type Catalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { EvmChainConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import type { WatchWorld } from "../../src/watch/watchWorld.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { FakeChain, type FakeTransfer } from "./fakeChain.ts";
import { openFakeProvider, type FakeProvider, type ProviderProfile } from "./fakeProvider.ts";
import { insertIntent } from "./intents.ts";
import { TEST_CHAIN_CONFIG } from "./stationWorld.ts";

// Watches generated chains through limited providers, and compares the recorded movements with the chain.

export const TOKENS = ["c1", "c2", "c3"].map((byte) => `0x${byte.repeat(20)}`);
export const PAYERS = ["a1", "a2", "a3"].map((byte) => `0x${byte.repeat(20)}`);
const INBOXES = 6;
export const START_BLOCK = 40;
/** The depth from which the fake nodes report a block as final. */
const FINALITY_DEPTH = 64;
const ROUNDS_MAX = 1_500;
/** The time between two polls of an idle watcher. */
const POLL_MS = 6_000;
/** The wait after a failure. It is longer than every provider's cooldown. */
export const FAILURE_WAIT_MS = 61_000;

export type LimitedProviderHarness = Awaited<ReturnType<typeof openLimitedProviderHarness>>;

/** Begins with a few inboxes. Each new chain has its own id in the database. */
export async function openLimitedProviderHarness(db: Db) {
  const inboxes: string[] = [];
  for (let made = 0; made < INBOXES; made += 1) inboxes.push((await insertIntent(db)).inbox_address);
  let chainCount = 0;

  /** Creates a chain with strangers' transfers in every block, and payments into and out of inboxes in some. */
  function newChain(): FakeChain {
    chainCount += 1;
    return new FakeChain(900_000 + chainCount);
  }
  function mine(chain: FakeChain, blocks: number): void {
    for (let mined = 0; mined < blocks; mined += 1) chain.mine(transactionsOfBlock(chain.blocks.length));
  }
  /** Mines one block with `count` strangers' transfers over all tokens, and payments at both ends and in the middle. */
  function mineFullBlock(chain: FakeChain, count: number): void {
    const [from = "", to = ""] = PAYERS;
    const payment = (place: number) => {
      const [token = "", inbox = ""] = [TOKENS[place], inboxes[place]];
      return [{ token, from, to: inbox, amountUnits: BigInt(count + place) }];
    };
    const strangers = Array.from({ length: count }, (_, index) => {
      const token = TOKENS[index % TOKENS.length] ?? "";
      return [{ token, from, to, amountUnits: 1n }];
    });
    const half = count / 2;
    chain.mine([payment(0), ...strangers.slice(0, half), payment(1), ...strangers.slice(half), payment(2)]);
  }
  function transactionsOfBlock(number: number): FakeTransfer[][] {
    const pick = <T>(among: readonly T[], by: number) => among[(number * 7 + by) % among.length] as T;
    const stranger = (by: number) => ({
      token: pick(TOKENS, by),
      from: pick(PAYERS, by),
      to: pick(PAYERS, by + 1),
      amountUnits: 1n,
    });
    const transactions: FakeTransfer[][] = [[stranger(0)], [stranger(1)]];
    // Some blocks hold many more transfers than the others.
    if (number % 97 === 0) for (let by = 0; by < 60; by += 1) transactions.push([stranger(by)]);
    if (number % 23 === 0) {
      const inbox = pick(inboxes, Math.floor(number / 23));
      const paid = { ...stranger(2), to: inbox, amountUnits: BigInt(number) };
      transactions.push([stranger(3), paid]);
      if (number % 46 === 0) transactions.unshift([{ ...paid, from: inbox, to: pick(PAYERS, 4) }, paid]);
    }
    return transactions;
  }

  /** Watches a chain through providers with the given profiles. Time passes only after a failure. */
  async function startWatcher(chain: FakeChain, ...profiles: readonly ProviderProfile[]) {
    const caip2: Caip2 = `eip155:${chain.chainId}`;
    const providers: FakeProvider[] = [];
    for (const [index, each] of profiles.entries()) providers.push(await openFakeProvider(chain, each, index + 1));
    const passed = { ms: 0 };
    const clock = {
      ...systemClock,
      now: () => addMs(systemClock.now(), passed.ms),
      monotonicMs: () => systemClock.monotonicMs() + passed.ms,
    };
    const log = pino({ level: "silent" });
    const nodes = providers.map(({ url }) => openEvmNode({ caip2, rpcUrl: url }));
    const [first, ...others] = nodes;
    ok(first);
    const watched = createEvmChain(
      { nodes: [first, ...others], gasAccount: openGasAccount(`0x${"11".repeat(32)}`) },
      { clock, log },
    );
    const world: WatchWorld = {
      db,
      clock,
      wake: createWake(clock),
      memory: new ProcessMemory(),
      catalog: catalogOf(chain),
      log,
    };
    const watchOnce = () => watchChain(world, watched);
    const cursor = () =>
      db.root.selectFrom("chain_cursor").selectAll().where("chain", "=", caip2).executeTakeFirstOrThrow();

    async function watchUntil(isDone: () => Promise<boolean>): Promise<number> {
      for (let polls = 1; polls <= ROUNDS_MAX; polls += 1) {
        try {
          const outcome = await watchOnce();
          if (await isDone()) return polls;
          if (!outcome.isBehind) passed.ms += POLL_MS;
        } catch (error) {
          if (!(error instanceof ProviderFailed)) throw error;
          passed.ms += FAILURE_WAIT_MS;
        }
      }
      const { number, reread_number: reread } = await cursor();
      throw new Error(`the watcher never caught up: at ${number}, reread up to ${reread}, of ${chain.head.number}`);
    }
    return {
      world,
      passed,
      chain: watched,
      providers,
      look: watchOnce,
      cursor,
      watchUntilHead: () => watchUntil(async () => (await cursor()).hash === chain.head.hash),
      watchUntilReread: (number: number) => watchUntil(async () => (await cursor()).reread_number >= BigInt(number)),
      close: async () => {
        await Promise.all(nodes.map((node) => node.close()));
        await Promise.all(providers.map((provider) => provider.close()));
      },
    };
  }

  async function recordedMovements(chain: FakeChain): Promise<string[]> {
    const rows = await db.root
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
          row.identity,
          row.token,
          ...parties,
          row.amount_units,
        ].join();
      })
      .toSorted();
  }
  /** Compares recorded movements with the chain's. Lists each movement that only one side has. */
  async function assertMovementsMatch(chain: FakeChain): Promise<void> {
    const [recorded, expected] = [new Set(await recordedMovements(chain)), new Set(expectedMovements(chain))];
    deepEqual(
      { lacking: [...expected.difference(recorded)], tooMuch: [...recorded.difference(expected)] },
      { lacking: [], tooMuch: [] },
    );
  }
  function expectedMovements(chain: FakeChain): string[] {
    return chain
      .movementsOf(new Set(inboxes), START_BLOCK)
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

  /** Starts an unlimited watcher, mines `blocks` while it is idle, and then applies the profiles. */
  async function startAfterOutage(chain: FakeChain, blocks: number, ...profiles: readonly ProviderProfile[]) {
    mine(chain, START_BLOCK);
    const watching = await startWatcher(chain, ...profiles.map(() => ({})));
    await watching.look();
    mine(chain, blocks);
    for (const [index, each] of profiles.entries()) (watching.providers[index] as FakeProvider).profile = each;
    return watching;
  }

  /** Mines until all earlier blocks are final, and lets the watcher reread them. */
  async function finalizeAndReread(
    watching: Awaited<ReturnType<typeof startWatcher>>,
    chain: FakeChain,
  ): Promise<void> {
    const last = chain.head.number;
    // Only known blocks become final. Of a range read, the watcher knows only the last block.
    for (let step = 0; step < FINALITY_DEPTH + 16; step += 16) {
      mine(chain, 16);
      await watching.watchUntilHead();
    }
    await watching.watchUntilReread(last);
  }

  return {
    inboxes,
    newChain,
    mine,
    mineFull: mineFullBlock,
    watch: startWatcher,
    outage: startAfterOutage,
    untilReread: finalizeAndReread,
    assertFound: assertMovementsMatch,
  };
}

function catalogOf({ chainId }: FakeChain): Catalog {
  const config: EvmChainConfig = {
    ...TEST_CHAIN_CONFIG,
    caip2: `eip155:${chainId}`,
    chainId,
    slug: "fake",
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
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
