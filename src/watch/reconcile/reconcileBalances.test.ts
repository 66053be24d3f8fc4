import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { pino } from "pino";
import type { Hex } from "viem";
import { ProviderFailed, type ChainReader } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { addMs } from "../../kernel/clock.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import {
  insertInbox,
  movementsOf,
  setUpWatchTests,
  startWatcher,
  transferFromAddress,
  type NodeOverride,
} from "../../../test/support/watcher.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { findCursor } from "../store/store.ts";
import { listPasses } from "./balanceStore.ts";
import { preparePasses, reconcileBalances } from "./reconcileBalances.ts";

const HOUR_MS = 3_600_000;

describe("comparing balances with the ledger", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { checksLedger: true });

  /** A watcher with one provider, which omits every log while `isOmitting`. Its clock is `aheadMs` ahead. */
  async function setUp(bend: (reader: ChainReader) => Partial<ChainReader> = () => ({})) {
    const state = { isOmitting: false, aheadMs: 0 };
    const single: NodeOverride = (reader) => ({
      name: "single",
      mayContainTransfers: () => false,
      transfers: async (...request) => (state.isOmitting ? [] : reader.transfers(...request)),
      ...bend(reader),
    });
    const watching = await startWatcher(db, chain, single);
    const lines: { alarm?: string; provider?: string }[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
    const { clock } = watching.world;
    const now = () => addMs(clock.now(), state.aheadMs);
    const world: WatchWorld = { ...watching.world, log, clock: { ...clock, now } };
    /** Runs enough steps for each pass once, an hour later. */
    const anHourLater = async (steps = 6) => {
      state.aheadMs += HOUR_MS;
      await preparePasses(world, watching.chain);
      for (let step = 0; step < steps; step += 1) await reconcileBalances(world, watching.chain);
    };
    const finalize = async () => {
      await chain.finalize();
      while ((await watching.watch()).isBehind);
    };
    const alarms = () =>
      lines.splice(0).flatMap(({ alarm, provider }) => (alarm ? [`${alarm} ${provider ?? ""}`] : []));
    return { ...watching, world, state, anHourLater, finalize, alarms };
  }

  const amounts = async () => (await movementsOf(db, chain)).map((row) => `${row.direction} ${row.amount_units}`);
  const differences = () => db.root.selectFrom("balance_difference").selectAll().execute();

  test("a transfer that a single provider omitted at both readings is found within the hour", async () => {
    const { state, finalize, anHourLater, alarms } = await setUp();
    const inbox = await insertInbox(db);
    state.isOmitting = true;
    const { blockNumber } = await chain.pay(usdc, inbox, { amountUnits: 1_000_000n });
    await finalize();
    ok(((await findCursor(db, chain.caip2))?.reread_number ?? 0n) >= blockNumber, "it was read twice");
    deepEqual(await amounts(), []);
    state.isOmitting = false;
    await anHourLater();
    deepEqual(await amounts(), ["in 1000000"]);
    deepEqual(alarms(), ["transfer_omitted single"]);
    deepEqual(await differences(), []);
    await anHourLater();
    deepEqual(alarms(), []);
  });

  test("a withdrawal that was omitted is found as well", async () => {
    const { state, finalize, anHourLater, alarms } = await setUp();
    const inbox = await insertInbox(db);
    await chain.pay(usdc, inbox, { amountUnits: 9n });
    await finalize();
    state.isOmitting = true;
    await transferFromAddress(chain, inbox, { token: usdc, to: `0x${"ee".repeat(20)}`, amountUnits: 4n });
    await finalize();
    await anHourLater();
    deepEqual(alarms(), ["balance_differs single"]);
    equal((await differences()).length, 1);
    state.isOmitting = false;
    await anHourLater();
    await anHourLater(1);
    deepEqual(await amounts(), ["in 9", "out 4"], "what was searched without a result is searched again");
    deepEqual([alarms(), await differences()], [["transfer_omitted single"], []]);
  });

  test("what no transfer explains is logged once, and forgotten when it is gone", async () => {
    let extraUnits = 3n;
    const { finalize, anHourLater, alarms } = await setUp((reader) => ({
      balances: async (...request) => (await reader.balances(...request)).map((units) => units + extraUnits),
    }));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 9n });
    await finalize();
    await anHourLater();
    await anHourLater();
    deepEqual(alarms(), ["balance_differs single", "balance_differs single"], "for each token");
    equal((await differences()).length, 2);
    extraUnits = 0n;
    await anHourLater();
    deepEqual(await differences(), []);
  });

  test("the pass of many inboxes continues after a restart, and several processes share it", async () => {
    const { world, chain: watched, state, finalize } = await setUp();
    for (let count = 0; count < 230; count += 1) await insertInbox(db);
    await finalize();
    await preparePasses(world, watched);
    const other = await startWatcher(db, chain);
    const clock = world.clock;
    const processes = [
      { world, chain: watched },
      { world: { ...other.world, clock, memory: new ProcessMemory() }, chain: other.chain },
    ];
    for (let step = 0; step < 30; step += 1) {
      state.aheadMs += 5_000;
      await Promise.all(processes.map((process) => reconcileBalances(process.world, process.chain)));
    }
    const passes = await listPasses(db);
    deepEqual(
      passes.map(({ scope, completed_count: count }) => [scope, count]),
      [
        ["all", 230n],
        ["created", 230n],
        ["moved", 0n],
        ["viewed", 0n],
      ],
    );
    ok(passes.every(({ position, next_at: nextAt }) => position === null && nextAt > addMs(clock.now(), HOUR_MS / 2)));
  });

  test("where the newest final block's balances are gone, a later booked block's are compared", async () => {
    const lacking = new Set<bigint>();
    const asked: bigint[] = [];
    const { finalize, anHourLater } = await setUp((reader) => ({
      balances: async (token, owners, at) => {
        asked.push(at.blockNumber);
        if (lacking.has(at.blockNumber)) throw new ProviderFailed("unknown_block", "missing trie node");
        return reader.balances(token, owners, at);
      },
    }));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 9n });
    await finalize();
    const cursor = await findCursor(db, chain.caip2);
    lacking.add(cursor?.reread_number ?? 0n);
    await anHourLater();
    deepEqual([...new Set(asked)], [cursor?.reread_number, cursor?.booked_number]);
    ok((await listPasses(db)).every((pass) => pass.completed_at !== null));
  });
});
