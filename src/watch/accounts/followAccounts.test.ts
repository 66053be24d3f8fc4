import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import type { Hex } from "viem";
import { ProviderFailed, type ChainReader, type Transfer } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { addMs } from "../../kernel/clock.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import {
  insertInbox,
  movementsOf,
  setUpWatchTests,
  startWatcher,
  transferFromAddress,
  type NodeOverride,
} from "../../../test/support/watcher.ts";
import { upsertViewHints } from "../../view/store.ts";
import { preparePasses } from "../reconcile/reconcileBalances.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { findCursor } from "../store/store.ts";
import { followAccounts, searchAccounts } from "./followAccounts.ts";
import { onlyDeep } from "../../../test/support/runNumber.ts";

// A chain whose provider lists only what leaves inboxes, as kinds do whose blocks are too large to read.

const TRANSFERS_MAX = 3;
const PASS_MS = 600_000;
const HOUR_MS = 3_600_000;

describe("finding deposits by balances", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { checksLedger: true });

  async function setUp(bend: (reader: ChainReader) => Partial<ChainReader> = () => ({})) {
    const state = { aheadMs: 0, requests: 0 };
    const byAccounts: NodeOverride = (reader) => {
      const plain: Partial<ChainReader> = {
        head: (tag) => reader.head(tag),
        transfers: async (scope, tokens, parties) => {
          state.requests += 1;
          const transfers = await reader.transfers(scope, tokens, parties);
          if (parties === undefined) return leavingInboxes(transfers);
          if (transfers.length > TRANSFERS_MAX && "fromBlock" in scope && scope.fromBlock < scope.toBlock)
            throw new ProviderFailed("range_too_large", "too many transfers");
          return transfers;
        },
        holdings: async (token, owners) => {
          const { number } = await reader.head("latest");
          return { blockNumber: number, units: await reader.balances(token, owners, { blockNumber: number }) };
        },
        balances: async () => {
          throw new ProviderFailed("unknown_block", "no past balances");
        },
      };
      return { name: "accounts", ...plain, ...bend({ ...reader, ...plain }) };
    };
    const watching = await startWatcher(db, chain, byAccounts);
    const lines: { alarm?: string; level: number }[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
    const { clock } = watching.world;
    const ahead = {
      ...clock,
      now: () => addMs(clock.now(), state.aheadMs),
      monotonicMs: () => clock.monotonicMs() + state.aheadMs,
    };
    const world: WatchWorld = { ...watching.world, log, clock: ahead };
    await preparePasses(world, watching.chain);
    /** Compares every page that is due, once. */
    const follow = async (scope: "viewed" | "all" = "all") => {
      state.aheadMs += PASS_MS;
      for (let pages = 0; pages < 20; pages += 1) {
        const pauseMs = await followAccounts(world, watching.chain, scope);
        if (pauseMs === undefined) break;
        state.aheadMs += 1;
      }
      if (scope === "all") await searchAccounts(world, watching.chain);
    };
    const finalize = async () => {
      await chain.finalize();
      while ((await watching.watch()).isBehind);
    };
    const warnings = () => lines.splice(0).filter(({ level }) => level >= 40);
    return { ...watching, world, state, follow, finalize, warnings };
  }

  async function leavingInboxes(transfers: Transfer[]): Promise<Transfer[]> {
    const inboxes = new Set((await db.root.selectFrom("inbox").select("address").execute()).map((row) => row.address));
    const chainTxs = new Set(transfers.filter(({ from }) => inboxes.has(from)).map(({ chainTx }) => chainTx));
    return transfers.filter(({ chainTx }) => chainTxs.has(chainTx));
  }

  const amounts = async () => (await movementsOf(db, chain)).map((row) => `${row.direction} ${row.amount_units}`);
  const live = async () => (await movementsOf(db, chain)).filter((row) => row.orphaned_at === null);

  test("a deposit is recorded once, and final blocks keep it without a warning", async () => {
    const { watch, follow, finalize, warnings } = await setUp();
    const inbox = await insertInbox(db);
    const { blockNumber, transactionHash } = await chain.pay(usdc, inbox, { amountUnits: 1_000_000n });
    await watch();
    deepEqual(await amounts(), []);
    await follow();
    await follow();
    const [movement, ...others] = await movementsOf(db, chain);
    deepEqual(
      [movement?.chain_tx, movement?.block_number, movement?.amount_units, others.length],
      [transactionHash, blockNumber, 1_000_000n, 0],
    );
    await finalize();
    await follow();
    ok(((await findCursor(db, chain.caip2))?.reread_number ?? 0n) >= blockNumber, "final blocks were read again");
    equal((await live()).length, 1);
    deepEqual(warnings(), []);
  });

  test("what a payer looks at is compared with every step, and a page without viewers costs nothing", async () => {
    const { watch, follow, world, state } = await setUp();
    const [viewed, other] = [await insertInbox(db), await insertInbox(db)];
    await chain.pay(usdc, other, { amountUnits: 1n });
    await chain.pay(usdc, viewed, { amountUnits: 2n });
    await watch();
    state.requests = 0;
    await follow("viewed");
    equal(state.requests, 0);
    const { intent_id: intentId } = await db.root
      .selectFrom("inbox")
      .select("intent_id")
      .where("address", "=", viewed)
      .executeTakeFirstOrThrow();
    const [namespace = "", reference = ""] = chain.caip2.split(":");
    const expiresAt = addMs(world.clock.now(), 2 * PASS_MS);
    await upsertViewHints(db, [{ intentId, namespace, reference, token: usdc, expiresAt }]);
    await follow("viewed");
    deepEqual(await amounts(), ["in 2"]);
    await follow("all");
    deepEqual((await amounts()).toSorted(), ["in 1", "in 2"]);
  });

  test(
    "a pass over a million inboxes takes ten minutes, of which the work on each page is a part",
    { skip: onlyDeep },
    async () => {
      let workMs = 0;
      const asked: number[] = [];
      const work = { ms: (_ms: number): void => {} };
      const {
        state,
        world,
        chain: watched,
      } = await setUp((reader) => ({
        holdings: async (token, owners) => {
          asked.push(owners.length);
          work.ms(workMs);
          if (reader.holdings === undefined) throw new Error("the reader has no holdings");
          return reader.holdings(token, owners);
        },
      }));
      work.ms = (ms) => void (state.aheadMs += ms);
      for (let inboxes = 0; inboxes < 401; inboxes += 1) await insertInbox(db);
      await sql`update balance_pass set completed_count = 1000000 where scope = 'all'`.execute(db.root);
      const nextPause = async (ms: number) => {
        workMs = ms;
        state.aheadMs += 1_000;
        return (await followAccounts(world, watched, "all")) ?? -1;
      };
      // Four requests of a hundred in 239 milliseconds are 17 a second.
      const pauseMs = await nextPause(60);
      ok(pauseMs >= 0 && pauseMs <= 239 - 60, String(pauseMs));
      equal(asked[0], 400);
      await sql`update balance_pass set completed_count = 1000000, position = null, compared_count = 0`.execute(
        db.root,
      );
      equal(await nextPause(300), 0);
    },
  );

  test("a deposit that is settled before anybody compares is found, and the same balance twice hides nothing", async () => {
    const { watch, follow, warnings } = await setUp();
    const inbox = await insertInbox(db);
    await chain.pay(usdc, inbox, { amountUnits: 7n });
    await watch();
    await follow();
    await transferFromAddress(chain, inbox, { token: usdc, to: await payoutOf(inbox), amountUnits: 7n });
    await chain.pay(usdc, inbox, { amountUnits: 7n });
    await watch();
    await follow();
    await transferFromAddress(chain, inbox, { token: usdc, to: await payoutOf(inbox), amountUnits: 7n });
    await watch();
    await follow();
    deepEqual(await amounts(), ["in 7", "out 7", "in 7", "out 7"]);
    deepEqual(warnings(), []);
  });

  test("a settlement that the only provider omitted twice is found an hour later, with the deposit that it took", async () => {
    const hidden = { blockNumber: -1n };
    const { watch, follow, finalize, state } = await setUp((reader) => ({
      transfers: async (scope, tokens, parties) => {
        const transfers = await reader.transfers(scope, tokens, parties);
        return transfers.filter(({ blockNumber }) => blockNumber !== hidden.blockNumber);
      },
    }));
    const inbox = await insertInbox(db);
    await watch();
    await follow();
    await chain.pay(usdc, inbox, { amountUnits: 7n });
    hidden.blockNumber = (await chain.client.getBlockNumber({ cacheTime: 0 })) + 1n;
    await transferFromAddress(chain, inbox, { token: usdc, to: await payoutOf(inbox), amountUnits: 7n });
    await watch();
    await finalize();
    await follow();
    deepEqual(await amounts(), [], "nothing differs");
    hidden.blockNumber = -1n;
    for (let hours = 0; hours < 2; hours += 1) {
      state.aheadMs += HOUR_MS;
      await follow();
    }
    // The settlement alone makes the books differ, which the next comparison explains.
    await follow();
    deepEqual((await amounts()).toSorted(), ["in 7", "out 7"]);
  });

  test("a flood of dust in one inbox is read in parts, the oldest first, and the others of its page are found at once", async () => {
    const { watch, follow } = await setUp();
    const [flooded, other] = [await insertInbox(db), await insertInbox(db)];
    for (let transfer = 1n; transfer <= 9n; transfer += 1n) await chain.pay(usdc, flooded, { amountUnits: transfer });
    await chain.pay(usdc, other, { amountUnits: 100n });
    await watch();
    await follow();
    const first = (await movementsOf(db, chain)).map((row) => row.amount_units);
    ok(first.includes(100n) && !first.includes(9n), first.join());
    for (let step = 0; step < 30 && (await live()).length < 10; step += 1) await follow();
    equal(
      (await live()).reduce((sum, row) => sum + row.amount_units, 0n),
      145n,
    );
  });

  test("a deposit in a replaced block is dropped, and found again where it is mined", async () => {
    const { watch, follow } = await setUp();
    const inbox = await insertInbox(db);
    const { transactionHash } = await chain.pay(usdc, inbox, { amountUnits: 5n });
    const signed = await chain.signedOf(transactionHash);
    await watch();
    await follow();
    await chain.rollback(1);
    await chain.mine(2);
    while ((await watch()).isBehind);
    deepEqual(await live(), []);
    await chain.sendSigned(signed);
    await watch();
    await follow();
    const [movement] = await live();
    equal(movement?.chain_tx, transactionHash);
    equal((await movementsOf(db, chain)).length, 1);
  });

  test("a balance that is always newer than the recorded blocks, and that nothing explains, is reported too", async () => {
    const { watch, follow, warnings } = await setUp((reader) => ({
      transfers: async () => [],
      holdings: async (token, owners) => {
        const { blockNumber = 0n, units = [] } = (await reader.holdings?.(token, owners)) ?? {};
        return { blockNumber: blockNumber + 1n, units };
      },
    }));
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 3n });
    await watch();
    await follow();
    deepEqual(warnings(), []);
    await follow();
    deepEqual(
      warnings().map(({ alarm }) => alarm),
      ["balance_differs"],
    );
  });

  test("an inbox whose transfers cannot be read is reported after a minute, and holds up no other", async () => {
    const unreadable = { inbox: "" };
    const { watch, follow, warnings } = await setUp((reader) => ({
      transfers: async (scope, tokens, parties) => {
        if (parties?.includes(unreadable.inbox)) throw new ProviderFailed("bad_answer", "no such history");
        return reader.transfers(scope, tokens, parties);
      },
    }));
    const [broken, other] = [await insertInbox(db), await insertInbox(db)];
    unreadable.inbox = broken;
    await chain.pay(usdc, broken, { amountUnits: 3n });
    await chain.pay(usdc, other, { amountUnits: 4n });
    await watch();
    await follow();
    deepEqual(await amounts(), ["in 4"]);
    equal(warnings().filter(({ alarm }) => alarm !== undefined).length, 0, "a provider may be late");
    await follow().catch(() => undefined);
    equal((await db.root.selectFrom("balance_difference").selectAll().execute()).length, 1);
    unreadable.inbox = "";
    await follow();
    await follow();
    deepEqual(await amounts(), ["in 4", "in 3"]);
    equal((await db.root.selectFrom("balance_difference").selectAll().execute()).length, 0);
  });

  test("a head whose parents do not lead to the last recorded block is not recorded", async () => {
    const branch = { isOther: false };
    const { watch } = await setUp((reader) => ({
      head: async (tag) => {
        const head = await reader.head(tag);
        return branch.isOther ? { ...head, parentHash: `0x${"de".repeat(32)}` } : head;
      },
    }));
    const { advancedTo: recorded } = await watch();
    await chain.pay(usdc, await insertInbox(db), { amountUnits: 1n });
    branch.isOther = true;
    equal((await watch()).advancedTo, recorded);
    branch.isOther = false;
    equal((await watch()).advancedTo > recorded, true);
  });

  test("inboxes that cannot be searched delay no payment to another", async () => {
    const unreadable = new Set<string>();
    const {
      world,
      chain: watched,
      watch,
      state,
    } = await setUp((reader) => ({
      transfers: async (scope, tokens, parties) => {
        if (parties?.some((each) => unreadable.has(each))) throw new ProviderFailed("bad_answer", "no such history");
        return reader.transfers(scope, tokens, parties);
      },
    }));
    for (let index = 0; index < 6; index += 1) {
      const inbox = await insertInbox(db);
      unreadable.add(inbox);
      await chain.pay(usdc, inbox, { amountUnits: 3n });
    }
    await watch();
    for (let seconds = 0; seconds < 90; seconds += 1) {
      state.aheadMs += 1_000;
      await followAccounts(world, watched, "all");
      await searchAccounts(world, watched);
    }
    equal((await db.root.selectFrom("balance_difference").selectAll().execute()).length, 6);
    const honest = await insertInbox(db);
    await chain.pay(usdc, honest, { amountUnits: 4n });
    await watch();
    state.aheadMs += 1_000;
    await followAccounts(world, watched, "all");
    deepEqual(await amounts(), ["in 4"]);
  });

  async function payoutOf(inbox: Hex): Promise<Hex> {
    const { payout } = await db.root
      .selectFrom("inbox")
      .innerJoin("intent", "intent.id", "inbox.intent_id")
      .select("intent.payout_wallet as payout")
      .where("inbox.address", "=", inbox)
      .executeTakeFirstOrThrow();
    return payout as Hex;
  }
});
