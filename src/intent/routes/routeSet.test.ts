import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { decodeCctpV2Config } from "@tributary/inbox/cctpV2";
import { cctpV2Chains, solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { computeRoutesRoot, hashRoute } from "@tributary/inbox/routes";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { sql } from "kysely";
import { concat, keccak256 } from "viem";
import { BRIDGED_CHAIN_IDS, bridgedChains, MESSENGER } from "../../../test/support/bridgedConfig.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import { insertIntent, randomAddress, TEST_TOKEN } from "../../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import { buildCatalog } from "../../catalog/catalog.ts";
import { routesTo, toCatalogRoute } from "../../catalog/routes.ts";
import { listMissingTokens, saveServedTokens } from "../../catalog/store.ts";
import type { EvmChainConfig } from "../../config/config.ts";
import type { Db } from "../../db/database.ts";
import { createAccount } from "../../merchant/createAccount.ts";
import type { AccountRow } from "../../merchant/store.ts";
import { createIntent } from "../createIntent.ts";
import { toInboxTerms } from "../inboxTerms.ts";
import type { IntentRow } from "../store.ts";
import { findIntentRoutes, findRoutes } from "./findRoutes.ts";
import {
  buildRouteSet,
  fromStoredRouteSet,
  hasRouteFrom,
  leavesOf,
  leavesTo,
  proofOf,
  routesFrom,
  toRoute,
  toStoredRouteSet,
} from "./routeSet.ts";

let db: Db;
let account: AccountRow;

before(async () => {
  db = await openTestDatabase("postgres");
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  account = await createAccount(stationWorld(db), { name: "Bridged", payout });
});

after(() => db.close());

/** A process with these chains and an empty memory. */
function openWorld(chains: EvmChainConfig[]): StationWorld {
  const base = stationWorld(db);
  const config = { ...base.config, chains };
  return { ...base, config, catalog: buildCatalog(config) };
}

async function create(world: StationWorld): Promise<IntentRow> {
  return (await createIntent(db.root, world, { account, input: {} })).intent;
}

const readRoutes = async ({ memory }: StationWorld, intent: IntentRow) =>
  leavesOf(await findIntentRoutes({ db: db.root, memory }, intent));

test("an intent pins two routes from every other bridged chain, and its address commits to their root", async () => {
  const world = openWorld(bridgedChains());
  const intent = await create(world);
  const routes = await readRoutes(world, intent);
  assert.deepEqual(
    routes.map(({ chain, speed }) => `${chain} ${speed}`).toSorted(),
    BRIDGED_CHAIN_IDS.slice(1).flatMap((id) => [`eip155:${id} fast`, `eip155:${id} standard`]),
  );
  assert.deepEqual(
    routes.map(({ leaf }) => leaf),
    routes.map(({ leaf }) => leaf).toSorted(),
  );
  for (const { config, speed, token, decimals, minimumUnits, minAmount } of routes) {
    const feePpmMax = speed === "fast" ? 3_000 : 1_000;
    const finalityThresholdMin = speed === "fast" ? 1_000 : 2_000;
    assert.deepEqual(decodeCctpV2Config(config), { messenger: MESSENGER, domain: 0, finalityThresholdMin, feePpmMax });
    assert.deepEqual([token, decimals, minimumUnits, minAmount], [TEST_TOKEN, 6, 10_000n, 2n]);
  }
  assert.equal(intent.routes_root, computeRoutesRoot(routes.map(toRoute)));
  assert.equal(intent.inbox_address, computeInboxAddress(toInboxTerms(intent)));
  assert.ok(hasRouteFrom(routes, { chain: "eip155:31338", token: TEST_TOKEN }));
  assert.equal(routesFrom(routes, { chain: "eip155:31338", token: TEST_TOKEN }).length, 2);
  assert.ok(!hasRouteFrom(routes, { chain: "eip155:31337", token: TEST_TOKEN }), "the rail itself needs no route");
  assert.ok(!hasRouteFrom(routes, { chain: "eip155:31338", token: randomAddress() }));
});

test("the proof of a pinned route leads from its leaf to the root", async () => {
  const world = openWorld(bridgedChains());
  const intent = await create(world);
  const routes = await readRoutes(world, intent);
  const hashPair = (one: Hex, two: Hex) => keccak256(one < two ? concat([one, two]) : concat([two, one]));
  for (const route of routes) {
    assert.equal(hashRoute(toRoute(route)), route.leaf);
    assert.equal(proofOf(routes, route).reduce(hashPair, route.leaf), intent.routes_root);
  }
  assert.throws(() => proofOf(routes, { leaf: zeroBytes32 }), RangeError);
});

test("another process reads the same routes, and all intents of a rail share one stored set", async () => {
  const world = openWorld(bridgedChains());
  const [one, two] = [await create(world), await create(openWorld(bridgedChains()))];
  assert.equal(one.route_set, two.route_set);
  assert.deepEqual(await readRoutes(openWorld([]), one), await readRoutes(world, one));
  const both = await findRoutes({ db: db.root, memory: world.memory }, [one, two]);
  assert.deepEqual(both.get(one.id), both.get(two.id));
});

test("a changed minimum makes another set with the same root, and earlier intents keep theirs", async () => {
  const before = await create(openWorld(bridgedChains(10_000n)));
  const world = openWorld(bridgedChains(5_000_000n));
  const later = await create(world);
  assert.equal(later.routes_root, before.routes_root);
  assert.notEqual(later.route_set, before.route_set);
  const minima = async (intent: IntentRow) => (await readRoutes(world, intent)).map(({ minimumUnits }) => minimumUnits);
  assert.deepEqual(new Set(await minima(before)), new Set([10_000n]));
  assert.deepEqual(new Set(await minima(later)), new Set([5_000_000n]));
});

test("a chain that the catalogue loses stays a route of earlier intents and none of later ones", async () => {
  const intent = await create(openWorld(bridgedChains()));
  const world = openWorld(bridgedChains().slice(0, 2));
  const later = await create(world);
  assert.equal((await readRoutes(world, intent)).length, 4);
  assert.equal((await readRoutes(world, later)).length, 2);
});

test("a start without a chain from which routes are pinned names its tokens as missing", async () => {
  const world = openWorld(bridgedChains());
  await saveServedTokens(db, world.catalog, world.clock.now());
  await create(world);
  const missing = await listMissingTokens(db, openWorld(bridgedChains().slice(0, 2)).catalog);
  assert.deepEqual(
    missing.map(({ chain, token }) => [chain, token]),
    [[`eip155:${BRIDGED_CHAIN_IDS[2]}`, TEST_TOKEN]],
  );
});

test("a token that was found unused is searched only in later rows, until it is configured again", async () => {
  const world = openWorld(bridgedChains().slice(0, 1));
  const [local] = bridgedChains();
  assert.ok(local);
  const token = randomAddress();
  const withToken = { ...local, tokens: [...local.tokens, { ...local.tokens[0], symbol: "GONE", address: token }] };
  const before = openWorld([withToken as EvmChainConfig]);
  const isMissing = async () => (await listMissingTokens(db, world.catalog)).some((each) => each.token === token);
  const markUnused = (intent: bigint) =>
    sql`update served_token set unused_intent = ${intent}, unused_movement = ${intent} where token = ${token}`.execute(
      db.root,
    );
  await saveServedTokens(db, before.catalog, before.clock.now());
  assert.equal(await isMissing(), false);
  const { seq } = await insertIntent(db, { payout_token: token });
  assert.equal(await isMissing(), true, "a later row is read");
  await markUnused(seq);
  assert.equal(await isMissing(), false, "an earlier row is not");
  await markUnused(seq);
  await saveServedTokens(db, before.catalog, before.clock.now());
  assert.equal(await isMissing(), true, "the token was in use again");
});

test("without a bridge an intent pins the empty root and no set", async () => {
  const unbridged = bridgedChains().map((chain) => ({
    ...chain,
    tokens: chain.tokens.map(({ bridge: _bridge, ...token }) => token),
  }));
  for (const chains of [bridgedChains().slice(0, 1), unbridged]) {
    const world = openWorld(chains);
    const intent = await create(world);
    assert.deepEqual([intent.routes_root, intent.route_set], [zeroBytes32, null]);
    assert.deepEqual(await readRoutes(world, intent), []);
  }
});

test("a token that is no origin any more has no route, and a rail that crosses by no bridge has none", () => {
  const [local, second, third] = bridgedChains();
  assert.ok(local !== undefined && second !== undefined && third !== undefined);
  const retired = { ...second, tokens: second.tokens.map((token) => ({ ...token, isOrigin: false })) };
  const catalog = buildCatalog({ chains: [local, retired, third], defaultRail: "local:usdc" });
  const railOf = (chainId: number) => catalog.assets.find((asset) => asset.chainId === chainId);
  const chainsTo = (chainId: number) => {
    const rail = railOf(chainId);
    assert.ok(rail);
    return [...new Set(routesTo(catalog, rail).map(({ chain }) => chain))].toSorted();
  };
  assert.deepEqual(chainsTo(31_337), ["eip155:31339"]);
  assert.deepEqual(chainsTo(31_338), ["eip155:31337", "eip155:31339"]);
  const off = buildCatalog({ chains: [{ ...local, cctp: undefined }, third], defaultRail: "local:usdc" });
  assert.deepEqual(
    off.assets.map((rail) => routesTo(off, rail)),
    [[], []],
  );
});

test("the database refuses an intent with a set that is not stored or has another root, and any change of a pin or a set", async () => {
  const intent = await create(openWorld(bridgedChains()));
  const other = await create(openWorld(bridgedChains(10_000n, [31_337, 31_340])));
  const { routes_root, route_set } = intent;
  const hasNoSet = /no stored route set with the root/;
  await assert.rejects(insertIntent(db, { routes_root, route_set: `0x${"ab".repeat(32)}` }), hasNoSet);
  await assert.rejects(insertIntent(db, { routes_root: other.routes_root, route_set }), hasNoSet);
  await assert.rejects(insertIntent(db, { routes_root }), /intent_route_set_or_empty_root/);
  await assert.rejects(insertIntent(db, { route_set }), hasNoSet);
  await insertIntent(db, { routes_root, route_set });
  const { route_set: otherSet } = other;
  await assert.rejects(
    sql`update intent set route_set = ${otherSet} where id = ${intent.id}`.execute(db.root),
    /pinned at its creation/,
  );
  for (const statement of [sql`update route_set set root = ${routes_root}`, sql`delete from route_set`])
    await assert.rejects(statement.execute(db.root), /a route set stays/);
});

test("a stored set whose routes have another root is refused, so that no wrong route is ever driven", async () => {
  const world = openWorld(bridgedChains());
  const set = buildRouteSet(await readRoutes(world, await create(world)));
  assert.ok(set);
  const stored = toStoredRouteSet(set);
  assert.deepEqual(fromStoredRouteSet(stored), set);
  const [first, ...others] = stored.routes;
  assert.ok(first);
  const altered = { ...first, minAmount: "3" };
  assert.throws(() => fromStoredRouteSet({ ...stored, routes: [altered, ...others] }), /have another root/);
  assert.throws(() => fromStoredRouteSet({ ...stored, routes: others }), /have another root/);
  assert.throws(() => fromStoredRouteSet({ ...stored, origins: [] }), /has no origin/);
  assert.throws(() => fromStoredRouteSet({ ...stored, root: `0x${"01".repeat(32)}` as Hex }), /have another root/);
});

test("D42a the leaves of a payout on Solana are built from the set and the recipient, and never change", () => {
  const recipient = `0x${"5a".repeat(32)}` as const;
  const origins = cctpV2Chains.slice(0, 8);
  const routes = buildCctpV2Routes({ settle: { chainId: 0n, domain: solanaCctpDomain }, origins });
  const set = buildRouteSet(routes.map((route) => toCatalogRoute(route, { decimals: 6, minimumUnits: 1n })));
  assert.ok(set);
  const built = leavesTo(recipient, fromStoredRouteSet(toStoredRouteSet(set)));
  const published = buildCctpV2Routes({ settle: { chainId: 0n, domain: solanaCctpDomain, recipient }, origins });
  assert.deepEqual(built.map(toRoute), published);
  // Addresses that payers have been shown commit to it.
  const root = "0x890440f25fddd62aaa6113f2b0bd7701f4132ff4bcf9ff7e1747fa2515347a1b";
  assert.equal(computeRoutesRoot(built.map(toRoute)), root);
});
