import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { inboxAddress } from "@tributary/inbox/address";
import { checksumAddress } from "@tributary/inbox/checksum";
import { hubAddress, implementationAddress, inboxVersion } from "@tributary/inbox/hub";
import { recoverAfter } from "@tributary/inbox/recoverAfter";
import { routeLeaf, routesRoot } from "@tributary/inbox/routes";
import type { Route } from "@tributary/inbox/routes";
import { inboxSalt } from "@tributary/inbox/salt";
import { termsHash } from "@tributary/inbox/terms";
import type { Hex, Terms } from "@tributary/inbox/terms";

// These values are what every other implementation is compared with. A change here means that addresses of inboxes that
// were given to payers cannot be computed any more.

type Written<Type> = { [Key in keyof Type]: Type[Key] extends bigint ? string : Type[Key] };

type Vectors = {
  version: number;
  hub: Hex;
  implementation: Hex;
  deploymentId: Hex;
  salts: { intentId: string; salt: Hex }[];
  inboxes: { name: string; terms: Written<Terms>; termsHash: Hex; inboxAddress: Hex }[];
  recoverAfter: { createdAt: string; recoverAfter: number }[];
  routes: { route: Written<Route>; leaf: Hex }[];
  routesRoot: Hex;
};

const path = new URL(import.meta.resolve("@tributary/inbox/vectors.json"));
const vectors = JSON.parse(await readFile(path, "utf8")) as Vectors;

test("the vectors belong to the published contracts", () => {
  assert.equal(vectors.version, inboxVersion);
  assert.equal(vectors.hub, checksumAddress(hubAddress));
  assert.equal(vectors.implementation, checksumAddress(implementationAddress));
});

test("salts", () => {
  assert.equal(vectors.salts.length, 4);
  for (const { intentId, salt } of vectors.salts) assert.equal(inboxSalt(vectors.deploymentId, intentId), salt);
});

test("hashes of terms and addresses of inboxes", () => {
  assert.equal(vectors.inboxes.length, 6);
  for (const { name, terms, ...expected } of vectors.inboxes) {
    const read = { ...terms, settleChainId: BigInt(terms.settleChainId) };
    assert.equal(termsHash(read), expected.termsHash, name);
    assert.equal(checksumAddress(inboxAddress(read)), expected.inboxAddress, name);
  }
});

test("recovery dates", () => {
  assert.equal(vectors.recoverAfter.length, 3);
  for (const each of vectors.recoverAfter) assert.equal(recoverAfter(new Date(each.createdAt)), each.recoverAfter);
});

test("leaves and root of routes", () => {
  const routes = vectors.routes.map(({ route }) => ({
    ...route,
    chainId: BigInt(route.chainId),
    minAmount: BigInt(route.minAmount),
  }));
  assert.deepEqual(
    routes.map(routeLeaf),
    vectors.routes.map(({ leaf }) => leaf),
  );
  assert.equal(routesRoot(routes), vectors.routesRoot);
});
