import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql, type KyselyPlugin } from "kysely";
import { openTestDatabase, thoroughDatabase } from "../../../test/support/database.ts";
import { otherSecretOf } from "../../../test/support/merchants.ts";
import { stationWorld, type StationWorld } from "../../../test/support/stationWorld.ts";
import type { Db } from "../../db/database.ts";
import { addMs, systemClock } from "../../kernel/clock.ts";
import { systemEntropy } from "../../kernel/entropy.ts";
import type { FaultCode } from "../../kernel/faults.ts";
import { newApiKey, parseApiKey } from "./apiKey.ts";
import { authenticate, requireScope } from "./authenticate.ts";
import { createAccount } from "../createAccount.ts";
import { createKey } from "./createKey.ts";
import { readMerchantVersion } from "../store.ts";
import { setAccountStatus } from "../setAccountStatus.ts";
import { revokeKey } from "./revokeKey.ts";
import { CREATE_INTENTS } from "./scopes.ts";

const SECOND_MS = 1_000;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

/** Simulates one process: its own memory, its own clock, and a count of its queries. */
function createProcessWorld() {
  const startedAt = systemClock.now();
  let passedMs = 0;
  let queries = 0;
  const reads = { count: () => queries };
  let held: Promise<void> | undefined;
  // Delays the result of the version query alone, as a slow network would.
  const slow: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (Object.keys(result.rows[0] ?? {}).join() === "version") await held;
      return result;
    },
  };
  const counted: Db = {
    ...db,
    get root() {
      queries += 1;
      return db.root.withPlugin(slow);
    },
    transaction: (run) => db.transaction(run),
  };
  const world: StationWorld = {
    ...stationWorld(counted),
    clock: { ...systemClock, now: () => addMs(startedAt, passedMs), monotonicMs: () => passedMs },
  };
  return {
    world,
    reads,
    passTime: (durationMs: number) => {
      passedMs += durationMs;
    },
    /** Delays the version result; returns a function that releases it. */
    holdVersion: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    call: (apiKey: string) => authenticate(world, `Bearer ${apiKey}`),
  };
}

async function createMerchantKey(world: StationWorld) {
  const { id } = await createAccount(world, { name: "Test" });
  return { accountId: id, ...(await createKey(world, { accountId: id, scopes: [CREATE_INTENTS] })) };
}

function assertRefused(promise: Promise<unknown>, code: FaultCode): Promise<void> {
  return assert.rejects(promise, { name: "Fault", code });
}

/**
 * Waits for work beside the requests. The embedded database runs one query after the other, so queries here come last.
 */
async function waitForBackgroundWork(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await db.root.selectFrom("merchant_version").select("version").execute();
}

test("D21 a cached key costs no query, apart from one every 300 ms for all keys together", async () => {
  const one = createProcessWorld();
  const [first, second] = [await createMerchantKey(one.world), await createMerchantKey(one.world)];
  for (const { apiKey } of [first, second]) await one.call(apiKey);
  await waitForBackgroundWork();
  const before = one.reads.count();
  for (let call = 0; call < 50; call += 1) {
    assert.equal((await one.call(first.apiKey)).account.id, first.accountId);
    assert.equal((await one.call(second.apiKey)).account.id, second.accountId);
  }
  assert.equal(one.reads.count(), before);
  one.passTime(300);
  for (let call = 0; call < 50; call += 1) await Promise.all([one.call(first.apiKey), one.call(second.apiKey)]);
  await waitForBackgroundWork();
  assert.equal(one.reads.count(), before + 1);
});

test("D21 a key revoked in one process is refused by the others within a second, however busy they are", async () => {
  const [one, other] = [createProcessWorld(), createProcessWorld()];
  const { apiKey, keyId } = await createMerchantKey(one.world);
  await one.call(apiKey);
  await other.call(apiKey);
  await revokeKey(one.world, keyId);
  await assertRefused(one.call(apiKey), "key_revoked");
  for (let passed = 0; passed < SECOND_MS; passed += 50) {
    other.passTime(50);
    await other.call(apiKey).catch(() => undefined);
  }
  await assertRefused(other.call(apiKey), "key_revoked");
});

test("D21 an idle process without any signal reads the version before it accepts a key", async () => {
  const one = createProcessWorld();
  const { apiKey, keyId } = await createMerchantKey(one.world);
  await one.call(apiKey);
  // A direct SQL update, so that no code of ours sends a signal.
  await db.root.updateTable("api_key").set({ revoked_at: systemClock.now() }).where("key_id", "=", keyId).execute();
  one.passTime(SECOND_MS);
  await assertRefused(one.call(apiKey), "key_revoked");
});

test("D21 a changed account takes effect within a second, and a new key at once", async () => {
  const [one, other] = [createProcessWorld(), createProcessWorld()];
  const { apiKey, accountId } = await createMerchantKey(one.world);
  await other.call(apiKey);
  await setAccountStatus(one.world, { accountId, status: "suspended" });
  other.passTime(SECOND_MS);
  const caller = await other.call(apiKey);
  assert.throws(() => requireScope(caller, [CREATE_INTENTS]), { code: "account_suspended" });
  await setAccountStatus(one.world, { accountId, status: "active" });
  requireScope(await one.call(apiKey), [CREATE_INTENTS]);
  const fresh = await createKey(one.world, { accountId, scopes: [] });
  const unscoped = await other.call(fresh.apiKey);
  other.passTime(SECOND_MS);
  requireScope(await other.call(apiKey), [CREATE_INTENTS]);
  assert.throws(() => requireScope(unscoped, [CREATE_INTENTS]), { code: "insufficient_scope" });
});

test("D21 a late response does not bring an old version back", async () => {
  const one = createProcessWorld();
  const { apiKey, keyId } = await createMerchantKey(one.world);
  const other = await createMerchantKey(one.world);
  await one.call(apiKey);
  one.passTime(300);
  const release = one.holdVersion();
  // The background read of the version returns only after the key was revoked and the next version is known.
  await one.call(apiKey);
  await waitForBackgroundWork();
  await db.root.updateTable("api_key").set({ revoked_at: systemClock.now() }).where("key_id", "=", keyId).execute();
  one.passTime(100);
  await one.call(other.apiKey);
  await assertRefused(one.call(apiKey), "key_revoked");
  release();
  await waitForBackgroundWork();
  const before = one.reads.count();
  await assertRefused(one.call(apiKey), "key_revoked");
  assert.equal(one.reads.count(), before, "entries of the newer version stay valid");
});

for (const isSeen of [true, false]) {
  const seen = isSeen ? "while the process reads" : "while the process is idle";
  test(`D21 a key is refused although a server that lost commits reaches the same version again ${seen}`, async () => {
    const one = createProcessWorld();
    const { apiKey, keyId } = await createMerchantKey(one.world);
    const other = await createMerchantKey(one.world);
    await setAccountStatus(one.world, { accountId: other.accountId, status: "suspended" });
    for (const each of [other, { apiKey }]) await one.call(each.apiKey);
    const versionBefore = await readMerchantVersion(db);
    // The server comes back without the last change.
    await sql`update merchant_version set version = version - 1`.execute(db.root);
    if (isSeen) {
      one.passTime(SECOND_MS);
      await one.call(other.apiKey);
    }
    await sql`update api_key set revoked_at = ${systemClock.now()} where key_id = ${keyId}`.execute(db.root);
    assert.equal(await readMerchantVersion(db), versionBefore);
    one.passTime(SECOND_MS);
    await one.call(other.apiKey);
    await assertRefused(one.call(apiKey), "key_revoked");
  });
}

test("D21 an unknown id and a wrong secret cost the same one query, also while the right key is cached", async () => {
  const one = createProcessWorld();
  const { apiKey, keyId } = await createMerchantKey(one.world);
  await one.call(apiKey);
  await waitForBackgroundWork();
  const unknown = newApiKey("test", systemEntropy).apiKey;
  const wrong = otherSecretOf(keyId);
  assert.equal(parseApiKey(wrong)?.keyId, keyId, "the id of the right key with another secret");
  for (const guess of [unknown, wrong]) {
    const before = one.reads.count();
    await assertRefused(one.call(guess), "unauthorized");
    assert.equal(one.reads.count(), before + 1);
  }
  await one.call(apiKey);
});

test("D21 an expired key gets key_expired, also when it expires while cached", async () => {
  const one = createProcessWorld();
  const { accountId } = await createMerchantKey(one.world);
  const expiresAt = addMs(one.world.clock.now(), 200);
  const { apiKey } = await createKey(one.world, { accountId, scopes: [], expiresAt });
  await one.call(apiKey);
  one.passTime(199);
  await one.call(apiKey);
  one.passTime(1);
  await assertRefused(one.call(apiKey), "key_expired");
});

test("the last use of a key is written in the background, once a minute", async () => {
  const one = createProcessWorld();
  const { apiKey, keyId } = await createMerchantKey(one.world);
  const lastUsed = async () => {
    await waitForBackgroundWork();
    const key = db.root.selectFrom("api_key").select("last_used_at").where("key_id", "=", keyId);
    return (await key.executeTakeFirstOrThrow()).last_used_at;
  };
  const firstAt = one.world.clock.now();
  await one.call(apiKey);
  assert.deepEqual(await lastUsed(), firstAt);
  one.passTime(59_000);
  await one.call(apiKey);
  assert.deepEqual(await lastUsed(), firstAt, "not written for every request");
  one.passTime(2_000);
  await one.call(apiKey);
  assert.deepEqual(await lastUsed(), one.world.clock.now());
});
