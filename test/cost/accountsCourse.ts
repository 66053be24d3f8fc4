import assert from "node:assert/strict";
import type { Chain } from "../../src/chain/chain.ts";
import { Providers } from "../../src/chain/providers.ts";
import type { ChainReader } from "../../src/chain/reader.ts";
import { followAccounts, searchAccounts } from "../../src/watch/accounts/followAccounts.ts";
import { retryUnreadable } from "../../src/watch/unreadable/retryUnreadable.ts";
import { addMs } from "../../src/kernel/clock.ts";
import { upsertViewHints } from "../../src/view/store.ts";
import { preparePasses } from "../../src/watch/reconcile/reconcileBalances.ts";
import type { CostWorld } from "./costWorld.ts";
import { USDC, type ScriptedRoad } from "./scriptedRoad.ts";

// Deposits that only the balances of inboxes show, as on chains that are read by accounts: one of a payer who looks,
// one of a busy inbox, and a balance that nothing explains.

const DOLLAR = 1_000_000n;
/** Longer than a difference waits for an explanation, and than the pause between two pages. */
const WAIT_MS = 61_000;
const STEPS_MAX = 20;
const STEP_MS = 1_000;
const HOUR_MS = 3_600_000;

export async function findDepositsByBalances(world: CostWorld): Promise<void> {
  const { road, busy } = world;
  const { omitted, advance, passTime } = road;
  /** Units that providers show beside those on the chain, by address. */
  const surplus = new Map<string, bigint>();
  const chain = readByAccounts(road, surplus);
  await preparePasses(road.world, chain);
  const viewed = await world.create();
  const paid = [viewed, busy];
  const chainTxs = paid.map((intent) => world.pay(intent, 5n * DOLLAR));
  for (const chainTx of chainTxs) omitted.add(chainTx);
  await advance(1);
  const [namespace = "", reference = ""] = chain.caip2.split(":");
  const expiresAt = addMs(road.world.clock.now(), 2 * HOUR_MS);
  await upsertViewHints(road.world.db, [{ intentId: viewed.id, namespace, reference, token: USDC, expiresAt }]);
  assert.equal(await countRecorded(world, chain, chainTxs), 0);
  await followAccounts(road.world, chain, "all");
  await searchAccounts(road.world, chain);
  // The provider lists long ranges in parts.
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    await followAccounts(road.world, chain, "viewed");
    passTime(STEP_MS);
  }
  assert.equal(await countRecorded(world, chain, chainTxs), paid.length);
  surplus.set(busy.inbox_address, 1n);
  surplus.set(viewed.inbox_address, 1n);
  for (const scope of ["viewed", "all", "viewed", "all", "all"] as const) {
    // Each time from the first page on, which has the busy inbox.
    await restartPass(world, chain);
    passTime(WAIT_MS);
    await followAccounts(road.world, chain, scope);
    await searchAccounts(road.world, chain);
    await retryUnreadable(road.world, chain);
  }
  const { length } = await road.world.db.root.selectFrom("balance_difference").select("inbox").execute();
  assert.equal(length, paid.length);
  surplus.clear();
  await restartPass(world, chain);
  passTime(HOUR_MS);
  await followAccounts(road.world, chain, "viewed");
  await followAccounts(road.world, chain, "all");
  await world.settle();
}

/** The road's chain, as a kind whose providers show present balances. */
function readByAccounts({ world, chain, nodes }: ScriptedRoad, surplus: ReadonlyMap<string, bigint>): Chain {
  const [first, ...others] = nodes.map((node): ChainReader => {
    const holdings: ChainReader["holdings"] = async (token, owners) => {
      const { number: blockNumber } = await node.head("latest");
      const units = await node.balances(token, owners, { blockNumber });
      return { blockNumber, units: units.map((each, index) => each + (surplus.get(owners[index] ?? "") ?? 0n)) };
    };
    return new Proxy(node as ChainReader, {
      get(target, name) {
        const value: unknown = name === "holdings" ? holdings : Reflect.get(target, name, target);
        return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
      },
    });
  });
  if (first === undefined) throw new Error("the road has no provider");
  const readers = [first, ...others] as const;
  return { ...chain, detection: "balances", readers, providers: new Providers(readers, world) };
}

async function restartPass({ road: { world } }: CostWorld, { caip2 }: Chain): Promise<void> {
  await world.db.root.updateTable("balance_pass").set({ position: null }).where("chain", "=", caip2).execute();
}

async function countRecorded({ road: { world } }: CostWorld, { caip2 }: Chain, chainTxs: string[]): Promise<number> {
  const rows = await world.db.root
    .selectFrom("movement")
    .select("id")
    .where("chain", "=", caip2)
    .where("chain_tx", "in", chainTxs)
    .execute();
  return rows.length;
}
