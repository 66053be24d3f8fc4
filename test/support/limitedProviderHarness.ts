import { deepEqual, ok } from "node:assert/strict";
import { pino } from "pino";
import { buildCatalog, type Catalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { ChainConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import type { WatchWorld } from "../../src/watch/store/applySegment.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { FakeChain, type FakeTransfer } from "./fakeChain.ts";
import { openFakeProvider, type FakeProvider, type ProviderProfile } from "./fakeProvider.ts";
import { insertIntent } from "./intents.ts";
import { TEST_CHAIN_CONFIG } from "./stationWorld.ts";

// Chains made up of blocks, watched through providers that limit what they answer, and compared with what was recorded of them.

export const TOKENS = ["c1", "c2", "c3"].map((byte) => `0x${byte.repeat(20)}`);
export const PAYERS = ["a1", "a2", "a3"].map((byte) => `0x${byte.repeat(20)}`);
const INBOXES = 6;
export const START_BLOCK = 40;
/** How deep a block must lie for the fake nodes to call it final. */
const FINALITY_DEPTH = 64;
const ROUNDS_MAX = 1_500;
/** Where a look says that there is nothing more at once, so much passes until the next. */
const POLL_MS = 6_000;
/** A failure lets so much time pass, and so ends every rest of a provider. */
export const FAILURE_WAIT_MS = 61_000;

export type LimitedProviderHarness = Awaited<ReturnType<typeof openLimitedProviderHarness>>;

/** Begins with a few inboxes. Each chain that is made is one of its own in the database. */
export async function openLimitedProviderHarness(db: Db) {
  const inboxes: string[] = [];
  for (let made = 0; made < INBOXES; made += 1) inboxes.push((await insertIntent(db)).inbox_address);
  let chainCount = 0;

  /** A chain of its own, with transfers of strangers in every block and payments into inboxes and out of them in some. */
  function newChain(): FakeChain {
    chainCount += 1;
    return new FakeChain(900_000 + chainCount);
  }
  function mine(chain: FakeChain, blocks: number): void {
    for (let mined = 0; mined < blocks; mined += 1) chain.mine(transactionsOfBlock(chain.blocks.length));
  }
  /** One block with so many transfers of strangers, of the tokens in turn, and a payment at each end and in the middle. */
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
  async function startWatcher(chain: FakeChain, ...habits: readonly ProviderProfile[]) {
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
      for (let looks = 1; looks <= ROUNDS_MAX; looks += 1) {
        try {
          const outcome = await watchOnce();
          if (await isDone()) return looks;
          if (!outcome.isBehind) passed.ms += POLL_MS;
        } catch (error) {
          if (!(error instanceof ProviderFailed)) throw error;
          passed.ms += FAILURE_WAIT_MS;
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
  /** Each movement that only one of the two knows. */
  async function assertMovementsMatch(chain: FakeChain): Promise<void> {
    const [told, expected] = [new Set(await recordedMovements(chain)), new Set(expectedMovements(chain))];
    deepEqual(
      { lacking: [...expected.difference(told)], tooMuch: [...told.difference(expected)] },
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

  /** Begins, is away while `blocks` are mined, and comes back. */
  async function startAfterOutage(chain: FakeChain, blocks: number, ...habits: readonly ProviderProfile[]) {
    mine(chain, START_BLOCK);
    const watching = await startWatcher(chain, ...habits.map(() => ({})));
    await watching.look();
    mine(chain, blocks);
    for (const [index, each] of habits.entries()) (watching.providers[index] as FakeProvider).profile = each;
    return watching;
  }

  /** Mines so many blocks near the head that all before them are final, and lets them be read again. */
  async function finalizeAndReread(
    watching: Awaited<ReturnType<typeof startWatcher>>,
    chain: FakeChain,
  ): Promise<void> {
    const last = chain.head.number;
    // Only blocks that are known can be called final, and of those that were read by ranges just the last one of each is.
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
  const config: ChainConfig = {
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
