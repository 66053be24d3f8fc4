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
import { isAcceptedOrigin, isDepositIssuable, isIntentDepositIssuable, originMinimum } from "./depositIssuable.ts";

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

test("D57 an origin whose pinned minimum exceeds the price of a one-time intent is not issuable, and D49 its minimum is the higher one", () => {
  const chains = bridgedChains().map((chain) => ({
    ...chain,
    tokens: chain.tokens.map((token) => ({ ...token, crossingMinimumUnits: 1_550_000n })),
  }));
  const dear = routesTo(buildCatalog({ chains, defaultRail: "local:usdc" }), {
    ...rail,
    crossingMinimumUnits: 1_550_000n,
  });
  const accepts = (changed: Partial<IntentRow>) => isAcceptedOrigin({ ...intent, ...changed }, second, dear);
  assert.equal(accepts({ one_time: true, price_token_units: 1_549_999n }), false);
  assert.equal(accepts({ one_time: true, price_token_units: 1_550_000n }), true);
  assert.equal(accepts({ one_time: false, price_token_units: 1n }), true);
  assert.equal(accepts({ one_time: false, price_token_units: null }), true);
  const cheap = { ...intent, one_time: true, price_token_units: 1n };
  assert.ok(isAcceptedOrigin(cheap, rail, dear), "its own chain needs no crossing");
  assert.deepEqual(
    [rail, second].map((origin) => originMinimum(intent, origin, dear)),
    [intent.minimum_units, 1_550_000n],
  );
});

test("the higher of an origin's minimum and the rail's counts, in the origin's decimals, rounded up", () => {
  const minimumFrom = (origin: Partial<Asset>, crossingMinimumUnits: bigint, decimals = 6) => {
    const assets = catalog.assets.map((asset) => (asset === second ? { ...asset, ...origin } : asset));
    const [route] = routesTo({ ...catalog, assets }, { ...rail, crossingMinimumUnits, decimals }).filter(
      ({ chain }) => chain === second.chain,
    );
    return route?.minimumUnits;
  };
  assert.equal(minimumFrom({ minimumUnits: 10_000n }, 1_550_000n), 1_550_000n);
  assert.equal(minimumFrom({ minimumUnits: 2_000_000n }, 1_550_000n), 2_000_000n);
  assert.equal(minimumFrom({ minimumUnits: 1n }, 1_000_000_000_001n, 18), 2n);
  assert.equal(minimumFrom({ minimumUnits: 1n, decimals: 18 }, 2n), 2_000_000_000_000n);
});
