import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { findLatestRewind } from "../../src/event/epoch/epochStore.ts";
import { isServerIdentityReadable, markRewind, watchEpoch } from "../../src/event/epoch/watchEpoch.ts";
import { readFeed } from "../../src/event/listEvents.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { createEndpoint } from "../../src/webhook/endpoint/manageEndpoints.ts";
import { createKey } from "../../src/merchant/keys/createKey.ts";
import { READ_EVENTS } from "../../src/merchant/keys/scopes.ts";
import { openTestApi, VERSION } from "../support/api.ts";
import { openEventStream } from "../support/eventStream.ts";
import { createDatabaseOn } from "../support/database.ts";
import { insertAccount } from "../support/intents.ts";
import { startServerPair } from "../support/serverPair.ts";
import { stationWorld } from "../support/stationWorld.ts";
import { openWebhooks, Receiver } from "../support/webhooks.ts";

// A standby takes over that has not got the last commits: the sequences of the lost events would be given again.

const SKIP = 1_000_000;
const RETURN_TRIES_MAX = 400;

type SceneOptions = { role?: "owner" | "restricted" };

/** A service on two servers, with an account whose events 1 to 3 are on both, and 4 and 5 on the primary alone. */
async function openScene(t: TestContext, { role = "owner" }: SceneOptions = {}) {
  const closing = new AsyncDisposableStack();
  t.after(() => closing.disposeAsync());
  const pair = await startServerPair();
  closing.defer(() => pair.remove());
  await createDatabaseOn(pair.primary, "service");
  if (role === "restricted") await createRestrictedRole(pair.urlOf("service"));
  const url = role === "owner" ? pair.urlOf("service") : pair.urlOf("service").replace("tributary@", "restricted@");
  const db = await openDatabase({ url, poolSizeMax: 3 });
  closing.defer(() => db.close());
  const webhooks = openWebhooks(db);
  closing.defer(() => webhooks.close());
  const receiver = new Receiver();
  closing.defer(() => receiver.close());
  const [accountId, newcomerId] = [await insertAccount(db), await insertAccount(db)];
  await createEndpoint(webhooks.world, { accountId, input: { url: await receiver.listen() } });
  const append = async (account: string, labels: readonly string[]) => {
    await webhooks.appendChanges(
      account,
      labels.map((label) => ({ intentNumber: null, label })),
    );
    await webhooks.work();
  };
  await append(accountId, ["one", "two", "three"]);
  await pair.untilReplicated();
  await pair.stopReplication();
  await append(accountId, ["lost", "lost too"]);
  await append(newcomerId, ["lost"]);
  const failOver = async () => {
    await pair.failOver();
    await untilBack(db);
  };
  const feedAfter = async (account: string, after: bigint) => {
    const page = await readFeed(db, { accountId: account, after, limit: 100, types: undefined, intentId: undefined });
    return page.events.map(
      ({ sequence, type, data }) => `${sequence} ${type === "account.updated" ? labelOf(data) : type}`,
    );
  };
  return { db, webhooks, receiver, accountId, newcomerId, append, failOver, feedAfter };
}

function labelOf(data: { object: unknown }): string {
  return String(Reflect.get(data.object as object, "label"));
}

/** Some hosts let no role read which server it is on. */
async function createRestrictedRole(url: string): Promise<void> {
  const owner = await openDatabase({ url });
  await sql`create role restricted login`.execute(owner.root);
  await sql`revoke execute on function pg_control_system() from public`.execute(owner.root);
  await sql`grant all on all tables in schema public to restricted`.execute(owner.root);
  await owner.close();
}

async function untilBack(db: Db): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction(
        async (tx) => void (await sql`create temporary table probe () on commit drop`.execute(tx)),
      );
    } catch (error) {
      if (tries >= RETURN_TRIES_MAX) throw error;
      await delay(25);
    }
  }
}

describe("events after a failover that lost commits", () => {
  for (const role of ["owner", "restricted"] as const)
    test(`D55 a reader of lost events sees every event of the new line, as ${role}`, async (t) => {
      const scene = await openScene(t, { role });
      const { accountId, newcomerId, feedAfter, receiver } = scene;
      assert.equal(isServerIdentityReadable(scene.webhooks.world), role === "owner");
      assert.deepEqual(await feedAfter(accountId, 3n), ["4 lost", "5 lost too"]);
      await scene.failOver();
      assert.deepEqual(await feedAfter(accountId, 0n), ["1 one", "2 two", "3 three"]);
      await scene.append(accountId, ["four", "five"]);
      await scene.append(newcomerId, ["first"]);

      const news = [`${SKIP + 3} account.feed_restored`, `${SKIP + 4} four`, `${SKIP + 5} five`];
      assert.deepEqual(await feedAfter(accountId, 5n), news);
      assert.deepEqual(await feedAfter(accountId, 3n), news);
      assert.deepEqual(await feedAfter(accountId, 2n), ["3 three", ...news]);
      const firsts = [`${SKIP} account.feed_restored`, `${SKIP + 1} first`];
      assert.deepEqual(await feedAfter(newcomerId, 1n), firsts);
      assert.deepEqual(await feedAfter(newcomerId, 0n), firsts, "nothing of it expired");
      assert.deepEqual(
        receiver.received.map(({ event }) => event.sequence),
        [1, 2, 3, 4, 5, SKIP + 3, SKIP + 4, SKIP + 5],
      );
      assert.deepEqual(receiver.received.at(5)?.event.data.object, {
        object: "feed_restoration",
        accountId,
        lastSequence: 3,
        nextSequence: SKIP + 3,
      });
      const rewind = await findLatestRewind(scene.db);
      assert.deepEqual([rewind?.epoch, rewind?.reason], [1, "counter"]);
    });

  test("D55 an open stream goes on through the failover, behind every event that it has shown", async (t) => {
    const scene = await openScene(t);
    const { accountId } = scene;
    const api = await openTestApi(scene.db);
    t.after(() => api.server.close());
    const base = await api.server.listen({ host: "127.0.0.1", port: 0 });
    const { apiKey } = await createKey(api.world, { accountId, scopes: [READ_EVENTS] });
    const headers = { authorization: `Bearer ${apiKey}`, "service-version": VERSION };
    const stream = await openEventStream(`${base}/api/v1/events/stream?after=0`, headers);
    const next = async (count: number) => {
      const shown = [];
      while (shown.length < count) shown.push((await stream.next()).id);
      return shown;
    };
    assert.deepEqual(await next(5), ["1", "2", "3", "4", "5"]);
    await scene.failOver();
    await scene.append(accountId, ["four", "five"]);
    const news = [SKIP + 3, SKIP + 4, SKIP + 5].map(String);
    assert.deepEqual(await next(3), news);
    stream.close();
  });

  test("D55 a process that starts after the promotion notices it, and another one skips no second time", async (t) => {
    const scene = await openScene(t);
    await scene.failOver();
    const restarted = stationWorld(scene.db);
    assert.deepEqual(await watchEpoch(restarted), { rewind: "timeline", epoch: 1 });
    assert.deepEqual(await watchEpoch(scene.webhooks.world), { rewind: undefined, epoch: 1 });
    assert.deepEqual(await watchEpoch(restarted), { rewind: undefined, epoch: 1 });
    while (!(await assignEventSequences(restarted)).isDone);
    await scene.append(scene.accountId, ["four"]);
    assert.deepEqual(await scene.feedAfter(scene.accountId, 5n), [
      `${SKIP + 3} account.feed_restored`,
      `${SKIP + 4} four`,
    ]);
  });
});

test("D55 the operator tells of a restore that nothing shows", async (t) => {
  const scene = await openScene(t);
  await scene.failOver();
  await watchEpoch(scene.webhooks.world);
  while (!(await assignEventSequences(scene.webhooks.world)).isDone);
  assert.equal(await markRewind(scene.webhooks.world), 2);
  await scene.append(scene.accountId, ["four"]);
  assert.deepEqual(await scene.feedAfter(scene.accountId, 5n), [
    `${SKIP + 3} account.feed_restored`,
    `${2 * SKIP + 3} account.feed_restored`,
    `${2 * SKIP + 4} four`,
  ]);
  assert.equal((await findLatestRewind(scene.db))?.reason, "marked");
});
