import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { encodeCctpV2Config } from "@tributary/inbox/cctpV2";
import type { CctpV2Config } from "@tributary/inbox/cctpV2";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { findCctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { checksumAddress } from "@tributary/inbox/checksum";
import { currentHub, firstHub, type Hub } from "@tributary/inbox/hubs";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { hashRoute, computeRouteProof, computeRoutesRoot } from "@tributary/inbox/routes";
import type { Route } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import { hashTerms } from "@tributary/inbox/terms";
import type { Hex, Terms } from "@tributary/inbox/terms";

// Other implementations are compared with these values. A change here means that the addresses of issued inboxes can no
// longer be computed.

type JsonForm<Type> = { [Key in keyof Type]: Type[Key] extends bigint ? string : Type[Key] };

type HubVectors = {
  version: number;
  hub: Hex;
  implementation: Hex;
  inboxes: { name: string; terms: JsonForm<Terms>; termsHash: Hex; inboxAddress: Hex }[];
};

/** Outside `laterHubs` the inboxes are those of the first hub. */
type Vectors = HubVectors & {
  laterHubs: HubVectors[];
  deploymentId: Hex;
  salts: { intentId: string; salt: Hex }[];
  recoverAfter: { createdAt: string; recoverAfter: number }[];
  routes: { route: JsonForm<Route>; leaf: Hex; proof: Hex[] }[];
  routesRoot: Hex;
  cctpV2Adapter: Hex;
  cctpV2Configs: { config: CctpV2Config; encoded: Hex }[];
  cctpV2Routes: { settleChainId: string; routes: { route: JsonForm<Route>; leaf: Hex }[]; routesRoot: Hex };
};

const path = new URL(import.meta.resolve("@tributary/inbox/vectors.json"));
const vectors = JSON.parse(await readFile(path, "utf8")) as Vectors;

const hubVectors: readonly (readonly [HubVectors | undefined, Hub])[] = [
  [vectors, firstHub],
  [vectors.laterHubs[0], currentHub],
];

test("the vectors belong to the published contracts", () => {
  for (const [vector, hub] of hubVectors) {
    assert.equal(vector?.version, hub.version);
    assert.equal(vector.hub, checksumAddress(hub.address));
    assert.equal(vector.implementation, checksumAddress(hub.implementation));
  }
  assert.equal(vectors.cctpV2Adapter, checksumAddress(cctpV2AdapterAddress));
});

test("salts", () => {
  assert.equal(vectors.salts.length, 4);
  for (const { intentId, salt } of vectors.salts) assert.equal(computeInboxSalt(vectors.deploymentId, intentId), salt);
});

test("hashes of terms and addresses of inboxes", () => {
  assert.equal(vectors.laterHubs.length, 1);
  for (const [vector, hub] of hubVectors) {
    assert.equal(vector?.inboxes.length, 6);
    for (const { name, terms, ...expected } of vector.inboxes) {
      const read = { ...terms, settleChainId: BigInt(terms.settleChainId) };
      assert.equal(hashTerms(read), expected.termsHash, name);
      assert.equal(checksumAddress(computeInboxAddress(read, hub)), expected.inboxAddress, name);
    }
  }
});

test("recovery dates", () => {
  assert.equal(vectors.recoverAfter.length, 3);
  for (const each of vectors.recoverAfter)
    assert.equal(computeRecoverAfter(new Date(each.createdAt)), each.recoverAfter);
});

test("settings of a CCTP route", () => {
  assert.equal(vectors.cctpV2Configs.length, 2);
  for (const { config, encoded } of vectors.cctpV2Configs) assert.equal(encodeCctpV2Config(config), encoded);
  const { recipient: _, ...config } = vectors.cctpV2Configs[0]?.config ?? assert.fail();
  assert.equal(encodeCctpV2Config(config), vectors.cctpV2Configs[0]?.encoded);
});

test("the routes of an intent that is paid on Base", () => {
  const { settleChainId, routes: expected, routesRoot } = vectors.cctpV2Routes;
  const settle = findCctpV2Chain(BigInt(settleChainId)) ?? assert.fail();
  const origins = [1, 42_161, 43_114].map((chainId) => findCctpV2Chain(chainId) ?? assert.fail());
  const routes = buildCctpV2Routes({ settle, origins });
  const written = routes.map((route) => ({
    route: { ...route, chainId: route.chainId.toString(), minAmount: route.minAmount.toString() },
    leaf: hashRoute(route),
  }));
  assert.deepEqual(written, expected);
  assert.equal(computeRoutesRoot(routes), routesRoot);
});

test("leaves, proofs and root of routes", () => {
  const routes = vectors.routes.map(({ route }) => ({
    ...route,
    chainId: BigInt(route.chainId),
    minAmount: BigInt(route.minAmount),
  }));
  assert.deepEqual(
    routes.map(hashRoute),
    vectors.routes.map(({ leaf }) => leaf),
  );
  assert.deepEqual(
    routes.map((_, index) => computeRouteProof(routes, index)),
    vectors.routes.map(({ proof }) => proof),
  );
  assert.equal(computeRoutesRoot(routes), vectors.routesRoot);
});
