import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bridgedChains } from "../../test/support/bridgedConfig.ts";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent } from "../../test/support/intents.ts";
import { buildCatalog, type Asset } from "../catalog/catalog.ts";
import { routesTo } from "../catalog/routes.ts";
import type { Db } from "../db/database.ts";
import type { PinnedRoute } from "../intent/routes/routeSet.ts";
import type { IntentRow } from "../intent/store.ts";
import { isAcceptedOrigin, isDepositIssuable, isIntentDepositIssuable } from "./depositIssuable.ts";

let db: Db;
let intent: IntentRow;

const catalog = buildCatalog({ chains: bridgedChains(), defaultRail: "local:usdc" });
const [rail, second, third] = catalog.assets as [Asset, Asset, Asset];
const routes = routesTo(catalog, rail);
const fromSecond = routes.filter(({ chain }) => chain === second.chain);

before(async () => {
  db = await openTestDatabase("postgres");
  intent = await insertIntent(db);
});
after(() => db.close());

const conditions = (pinned: readonly PinnedRoute[], changed: object = {}) => ({
  isEnabled: () => true,
  isHealthy: () => true,
  routes: pinned,
  ...changed,
});

test("D28 an origin is issuable as the rail or from a pinned route, and not from a route of the catalogue alone", () => {
  const issuable = (pinned: readonly PinnedRoute[]) =>
    [rail, second, third].map((origin) => isDepositIssuable(intent, origin, conditions(pinned)));
  assert.deepEqual(issuable([]), [true, false, false]);
  assert.deepEqual(issuable(fromSecond), [true, true, false]);
  assert.deepEqual(issuable(routes), [true, true, true]);
  const otherToken = { ...second, token: `0x${"66".repeat(20)}` };
  assert.ok(!isAcceptedOrigin(intent, otherToken, routes));
});

test("D28 a route origin needs its own chain healthy and its own switch on", () => {
  const isHealthy = (chain: string) => chain !== second.chain;
  assert.equal(isDepositIssuable(intent, second, conditions(routes, { isHealthy })), false);
  assert.equal(isDepositIssuable(intent, third, conditions(routes, { isHealthy })), true);
  const isEnabled = (origin: Asset) => origin !== third;
  assert.equal(isDepositIssuable(intent, third, conditions(routes, { isEnabled })), false);
});

test("D28 an intent whose own chain is unhealthy stays payable over a route", () => {
  const isHealthy = (chain: string) => chain === second.chain;
  const origins = [rail, second, third];
  assert.equal(isIntentDepositIssuable(intent, origins, conditions([], { isHealthy })), false);
  assert.equal(isIntentDepositIssuable(intent, origins, conditions(fromSecond, { isHealthy })), true);
  const settled = { ...intent, status: "settled" } as const;
  assert.equal(isIntentDepositIssuable(settled, origins, conditions(fromSecond)), false);
});
