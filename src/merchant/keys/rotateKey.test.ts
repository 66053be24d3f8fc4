import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestDatabase } from "../../../test/support/database.ts";
import { insertAccount } from "../../../test/support/intents.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import { addMs, systemClock } from "../../kernel/clock.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import { authenticate } from "./authenticate.ts";
import { createKey } from "./createKey.ts";
import { listKeys } from "../listAccounts.ts";
import { revokeKey } from "./revokeKey.ts";
import { rotateKey } from "./rotateKey.ts";
import { CREATE_INTENTS } from "./scopes.ts";

const HOUR_MS = 3_600_000;

let world: StationWorld;
let elapsedMs = 0;
before(async () => {
  const startedAt = systemClock.now();
  const clock = { ...systemClock, now: () => addMs(startedAt, elapsedMs), monotonicMs: () => elapsedMs };
  world = { ...stationWorld(await openTestDatabase("postgres")), clock };
});
after(() => world.db.close());

function assertRefused(promise: Promise<unknown>, code: FaultCode): Promise<void> {
  return assert.rejects(promise, { name: "Fault", code });
}

const authenticateWith = (apiKey: string) => authenticate(world, `Bearer ${apiKey}`);

async function createTestKey(expiresAt?: Date) {
  const accountId = await insertAccount(world.db);
  const until = expiresAt === undefined ? {} : { expiresAt };
  return { accountId, ...(await createKey(world, { accountId, scopes: [CREATE_INTENTS], ...until })) };
}

test("a rotated key and its successor both work during the overlap, with the same scopes", async () => {
  const old = await createTestKey();
  const fresh = await rotateKey(world, { keyId: old.keyId, overlapMs: HOUR_MS });
  assert.deepEqual(fresh.oldExpiresAt, addMs(world.clock.now(), HOUR_MS));
  for (const { apiKey } of [old, fresh]) assert.deepEqual((await authenticateWith(apiKey)).scopes, [CREATE_INTENTS]);
  elapsedMs += HOUR_MS - 1;
  await authenticateWith(old.apiKey);
  elapsedMs += 1;
  await assertRefused(authenticateWith(old.apiKey), "key_expired");
  assert.equal((await authenticateWith(fresh.apiKey)).account.id, old.accountId);
  assert.equal((await listKeys(world, { limit: 100, accountId: old.accountId })).length, 2);
});

test("an earlier expiry stays, and an overlap of 0 expires the old key at once", async () => {
  const soon = addMs(world.clock.now(), HOUR_MS);
  const old = await createTestKey(soon);
  const fresh = await rotateKey(world, { keyId: old.keyId, overlapMs: 5 * HOUR_MS, expiresAt: addMs(soon, HOUR_MS) });
  assert.deepEqual(fresh.oldExpiresAt, soon);
  await authenticateWith(fresh.apiKey);
  await rotateKey(world, { keyId: fresh.keyId, overlapMs: 0 });
  await assertRefused(authenticateWith(fresh.apiKey), "key_expired");
  await authenticateWith(old.apiKey);
});

test("expired, revoked and unknown keys cannot be rotated", async () => {
  const revoked = await createTestKey();
  await revokeKey(world, revoked.keyId);
  await assertRefused(rotateKey(world, { keyId: revoked.keyId, overlapMs: HOUR_MS }), "invalid_request");
  const expired = await createTestKey(world.clock.now());
  await assertRefused(rotateKey(world, { keyId: expired.keyId, overlapMs: HOUR_MS }), "invalid_request");
  await assertRefused(rotateKey(world, { keyId: "0".repeat(16), overlapMs: HOUR_MS }), "not_found");
  assert.equal((await listKeys(world, { limit: 100, accountId: revoked.accountId })).length, 1, "no key was written");
});

test("lists of keys omit hashes", async () => {
  const { accountId } = await createTestKey();
  for (const key of await listKeys(world, { limit: 100, accountId: accountId })) assert.ok(!("secret_hash" in key));
});
