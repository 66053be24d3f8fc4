import assert from "node:assert/strict";
import { sql } from "kysely";
import { listMissingTokens, saveServedTokens } from "../../src/catalog/store.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { StateFeed } from "../../src/http/checkout/events/stateFeed.ts";
import { purgeHandoffCodes } from "../../src/intent/checkout/handoff.ts";
import { payoutChain } from "../../src/intent/payoutAsset.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { purgePrimedAccounts } from "../../src/priming/purgePrimedAccounts.ts";
import {
  changeLocked,
  changeUnlocked,
  countOpenAccounts,
  countSubmitted,
  extendPrimedAccount,
  insertWithinLimits,
  listAfterTransaction,
  listDueAccounts,
  lockInState,
} from "../../src/priming/store.ts";
import type { World } from "../../src/world.ts";
import { runOperation } from "../../src/operator/runOperation.ts";
import { tokenCalls } from "../sim/chain/token.ts";
import { TEST_CHAIN_CONFIG } from "../support/stationWorld.ts";
import { findDepositsByBalances } from "./accountsCourse.ts";
import type { CostWorld } from "./costWorld.ts";
import { openDashboard } from "./dashboardCourse.ts";
import { LIMIT_PRICE_UNITS, USDC } from "./scriptedRoad.ts";

// What the road and its readers do, so that each of their statements runs at least once.

export type Course = {
  name: string;
  /** Why this course may read more than it returns or writes. */
  exemption?: string;
  /** No part of the road: judged with the planner's statistics and the values of the parameters only, as it runs. */
  isOffRoad?: boolean;
  run: (world: CostWorld) => Promise<void>;
};

const DOLLAR = 1_000_000n;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The intents that were created before the history. */
const INTENTS_OF_THE_START = 3;
const SELECTION = { namespace: "eip155", reference: String(TEST_CHAIN_CONFIG.chainId), tokenAddress: USDC };

export const COURSES: readonly Course[] = [
  {
    name: "requests of a merchant",
    run: async ({ get, post }) => {
      const keyed = { "idempotency-key": "once" };
      await post("/api/v1/intents", { merchantReference: "order" }, keyed);
      const { intentId } = await post("/api/v1/intents", { merchantReference: "order" }, keyed);
      await get(`/api/v1/intents/${intentId}`);
      await get(`/api/v1/intents/${intentId}/origins`);
      await post(`/api/v1/intents/${intentId}/source-inbox`, { chainId: TEST_CHAIN_CONFIG.chainId });
      await post(`/api/v1/intents/${intentId}/view`, { selection: SELECTION });
      await post(`/api/v1/intents/${intentId}/view`, {});
      await get("/api/v1/intents?limit=10&merchantReference=order");
      await post(`/api/v1/intents/${intentId}/archive`);
    },
  },
  {
    name: "pages of a merchant",
    isOffRoad: true,
    run: async ({ get, busy }) => {
      for (const path of ["", `/${busy.id}/deposits`, `/${busy.id}/settlements`]) {
        const { next_cursor: cursor } = await get(`/api/v1/intents${path}?limit=10`);
        await get(`/api/v1/intents${path}?limit=10&cursor=${encodeURIComponent(cursor)}`);
      }
    },
  },
  {
    name: "filtered lists of a merchant",
    isOffRoad: true,
    run: async ({ get, create, road: { world } }) => {
      await create({ priceUnits: Number(DOLLAR), oneTime: true });
      const years = (count: number) => new Date(world.clock.now().getTime() + count * 365 * DAY_MS).toISOString();
      const statuses = ["active", "settled", "archived"].map((status) => `status=${status}`);
      const payments = ["unpaid", "partial", "paid", "overpaid"].map((status) => `paymentStatus=${status}`);
      // The history of the account begins and ends within a year: nothing, everything, and its first and last intents.
      const oldest = (await oldestIntent(world)).getTime();
      const early = new Date(oldest + HOUR_MS).toISOString();
      const middle = new Date((oldest + world.clock.now().getTime()) / 2).toISOString();
      const times = [
        `createdBefore=${early}`,
        `createdBefore=${years(-1)}`,
        `createdBefore=${middle}`,
        `createdAfter=${middle}`,
        `createdAfter=${early}&createdBefore=${middle}`,
        `createdAfter=${years(1)}`,
        `createdAfter=${years(-1)}`,
        `createdAfter=${years(-1)}&createdBefore=${early}`,
      ];
      const pairs = statuses.flatMap((status) => payments.map((payment) => `${status}&${payment}`));
      const timed = [...pairs, ...statuses].map((filter) => `${filter}&createdBefore=${middle}`);
      for (const filter of [...statuses, ...payments, ...times, ...pairs, ...timed, "merchantReference=none"]) {
        const { next_cursor: cursor, has_more: hasMore } = await get(`/api/v1/intents?limit=10&${filter}`);
        if (hasMore) await get(`/api/v1/intents?limit=10&${filter}&cursor=${encodeURIComponent(cursor)}`);
      }
    },
  },
  { name: "dashboard", isOffRoad: true, run: openDashboard },
  {
    name: "checkout",
    run: async (world) => {
      const { get, post, road } = world;
      const { intentId, widgetToken } = await post("/api/v1/intents", { priceUnits: 5_000_000 });
      const { cookie } = await post(`/c/${intentId}/session`, { widgetToken });
      const session = { cookie: String(cookie).split(";")[0] ?? "" };
      for (const path of ["", "/state", "/origins"]) await get(`/c/${intentId}${path}`, session);
      for (const path of ["view", "handoff"]) await post(`/c/${intentId}/${path}`, {}, session);
      const { code } = await post(`/c/${intentId}/handoff`, {}, session);
      await post(`/c/${intentId}/session`, { code });
      await purgeHandoffCodes(road.world, 10);
      await followPages(world, [intentId, world.busy.id]);
    },
  },
  {
    name: "payment",
    run: async (world) => {
      world.pay(await world.create(), 5n * DOLLAR);
      await world.settle();
    },
  },
  {
    name: "payment of a price",
    run: async (world) => {
      const intent = await world.create({ priceUnits: Number(10n * DOLLAR), oneTime: true });
      world.pay(intent, 4n * DOLLAR);
      await world.road.advance(1);
      world.pay(intent, 6n * DOLLAR);
      await world.settle();
    },
  },
  {
    name: "payment that needs several providers",
    run: async (world) => {
      world.pay(await world.create(), LIMIT_PRICE_UNITS + DOLLAR);
      await world.settle();
    },
  },
  {
    name: "payment to a busy inbox",
    run: async (world) => {
      world.pay(world.busy, 5n * DOLLAR);
      await world.settle();
      world.pay(world.busy, LIMIT_PRICE_UNITS + DOLLAR);
      await world.settle();
    },
  },
  {
    name: "many payments",
    run: async (world) => {
      for (let count = 0; count < 30; count += 1) world.pay(await world.create(), 5n * DOLLAR);
      await world.settle();
    },
  },
  {
    name: "dust",
    run: async ({ road, busy }) => {
      road.mineDust(busy.inbox_address, 50);
      await road.advance(3);
    },
  },
  {
    name: "payments that a reorg takes away",
    run: async (world) => {
      const { scripted, advance, tick } = world.road;
      world.pay(await world.create(), 5n * DOLLAR);
      world.pay(world.busy, 5n * DOLLAR);
      await advance(1);
      scripted.reorg(1, { isLost: () => true });
      await tick();
      await world.settle();
    },
  },
  {
    name: "settlements that a reorg moves",
    run: async (world) => {
      world.pay(await world.create(), 5n * DOLLAR);
      world.pay(world.busy, 5n * DOLLAR);
      await world.settle();
      world.road.scripted.reorg(2);
      await world.road.tick();
      await world.settle();
    },
  },
  {
    name: "logs that a provider omits",
    run: async (world) => {
      const { omitted, advance } = world.road;
      const viewed = await world.create();
      omitted.add(world.pay(viewed, 5n * DOLLAR));
      await advance(1);
      await world.post(`/api/v1/intents/${viewed.id}/view`, {});
      await world.settle();
      omitted.add(world.pay(await world.create(), 5n * DOLLAR));
      await advance(1);
      // The second read of final blocks finds it.
      await advance(4);
      await world.settle();
    },
  },
  { name: "deposits that only balances show", run: findDepositsByBalances },
  {
    name: "settlement that the token refuses",
    run: async (world) => {
      const intent = await world.create();
      world.road.callAsOwner(tokenCalls.block(intent.payout_wallet));
      world.pay(intent, 5n * DOLLAR);
      await world.road.advance(4);
      world.road.callAsOwner(tokenCalls.unblock(intent.payout_wallet));
      await world.road.advance(1);
      world.road.passTime(DAY_MS / 4);
      await world.settle();
    },
  },
  {
    name: "catch-up",
    run: async (world) => {
      const intent = await world.create();
      for (let block = 0; block < 300; block += 1) {
        if (block % 100 === 0) world.pay(intent, 5n * DOLLAR);
        world.road.scripted.mine();
      }
      await world.road.tick();
      await world.settle();
    },
  },
  {
    name: "accounts before payments",
    run: async ({ create, busy, road: { world } }) => {
      await primeAndClose(world, await create());
      await primeAndClose(world, busy);
      await purgePrimedAccounts(world, 10);
    },
  },
  {
    name: "operator",
    run: async ({ road: { world }, busy }) => {
      await runOperation(world, "watch status", {});
      await runOperation(world, "accounts list", {});
      await runOperation(world, "origins list", {});
      await runOperation(world, "intents list", { status: "settled" });
      await runOperation(world, "intents show", { intentId: busy.id });
      await runOperation(world, "events list", { accountId: busy.account_id });
    },
  },
  {
    name: "expired responses",
    run: async ({ road }) => {
      road.passTime(2 * DAY_MS);
      await road.advance(2);
    },
  },
  {
    name: "start",
    exemption: "A start reads every inbox into memory and compares the configuration with the tokens of all intents.",
    run: async ({ road: { world, tick } }) => {
      await sql`insert into served_token (chain, token, symbol, since)
        values ('eip155:999', ${USDC}, 'GONE', ${world.clock.now()})`.execute(world.db.root);
      await listMissingTokens(world.db, world.catalog, { openMax: 100 });
      await saveServedTokens(world.db, world.catalog, world.clock.now());
      Object.assign(world, { memory: new ProcessMemory() });
      await tick();
    },
  },
  {
    name: "later start without a token of before",
    run: async ({ road: { world } }) => {
      assert.deepEqual(await listMissingTokens(world.db, world.catalog, { openMax: 100 }), []);
    },
  },
];

/** Takes an account through its states, as the loop does with a sender that creates accounts. */
async function primeAndClose(world: World, intent: IntentRow): Promise<void> {
  const { db, clock } = world;
  const chain = payoutChain(intent);
  const key = { chain, intentId: intent.id, token: intent.payout_token };
  const limits = { openTotal: 50, openPerAccount: 20, hourlyPerAccount: 60, keepMs: HOUR_MS };
  const at = clock.now();
  const account = { ...key, accountId: intent.account_id, at };
  assert.ok(await db.transaction((tx) => insertWithinLimits(tx, account, limits)));
  assert.ok(await extendPrimedAccount(db, key, { at, keepMs: HOUR_MS }));
  const [due] = await listDueAccounts(db, { chain, status: "planned", at, limit: 100 });
  assert.ok(due);
  const ids = [due.row.id];
  const outgoing = await db.root
    .selectFrom("outgoing_transaction")
    .select(({ fn }) => fn.max("id").as("id"))
    .executeTakeFirst();
  await db.transaction(async (tx) => {
    await lockInState(tx, ids, "planned");
    await changeLocked(tx, ids, { status: "submitted", outgoing_id: outgoing?.id ?? null });
  });
  await countSubmitted(db, chain);
  await listAfterTransaction(db, { chain, limit: 100 });
  await changeUnlocked(db, { ...due.row, status: "submitted", outgoing_id: outgoing?.id ?? null }, { status: "open" });
  const [open] = await listDueAccounts(db, { chain, status: "open", at, limit: 100 });
  assert.ok(open);
  await countOpenAccounts(db);
  await changeUnlocked(db, open.row, { status: "closed", closed_at: at });
}

async function oldestIntent({ db }: CostWorld["road"]["world"]): Promise<Date> {
  const { created_at: createdAt } = await db.root
    .selectFrom("intent")
    .select("created_at")
    .orderBy("seq")
    .offset(INTENTS_OF_THE_START)
    .limit(1)
    .executeTakeFirstOrThrow();
  return createdAt;
}

/** Follows the states of open pages through a payment to the busy inbox. */
async function followPages(world: CostWorld, intentIds: readonly string[]): Promise<void> {
  const feed = new StateFeed(world.road.world);
  const [isOpen, isPaid] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let states = 0;
  const listener = {
    onState: () => {
      states += 1;
      if (states === intentIds.length) isOpen.resolve();
      if (states > intentIds.length) isPaid.resolve();
    },
    onBeat: () => {},
    onClose: () => {},
  };
  for (const intentId of intentIds) feed.subscribe(intentId, undefined, listener);
  await isOpen.promise;
  world.pay(world.busy, DOLLAR);
  await world.settle();
  await isPaid.promise;
  feed.close();
}
