import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { runLoops } from "../../src/loops/runLoops.ts";
import { openRoad, type Road } from "../support/road.ts";
import { openWebSocketProxy, type WebSocketProxy } from "../support/webSocketProxy.ts";

// All loops run over a websocket proxy that drops connections and frames. With a polling interval of an hour, only
// pushed heads find deposits.

const HOUR_MS = 3_600_000;
const WAIT_MS_MAX = 120_000;

type HeadFeed = { road: Road; proxy: WebSocketProxy };

describe("the head feed", () => {
  async function openHeadFeed(
    context: TestContext,
    chain: { pollMs: number; settleAfterMs?: number },
  ): Promise<HeadFeed> {
    const proxies: WebSocketProxy[] = [];
    const wsUrl = async ({ rpcUrl }: { rpcUrl: string }) => {
      const proxy = await openWebSocketProxy(rpcUrl);
      proxies.push(proxy);
      return proxy.url;
    };
    const road = await openRoad({ wsUrl, chain: { settleAfterMs: HOUR_MS, ...chain } });
    const [proxy] = proxies;
    assert.ok(proxy);
    const ending = new AbortController();
    const loops = runLoops(road.world, ending.signal);
    context.after(async () => {
      ending.abort();
      await loops;
      await proxy.close();
      await road.close();
    });
    const feed = { road, proxy };
    // The first deposit may be found by the initial poll; later ones only by pushed heads.
    await payUntilCounted(feed);
    return feed;
  }

  async function payUntilCounted({ road }: HeadFeed): Promise<{ id: string }> {
    const intent = await road.create();
    await road.pay(intent, 5n);
    await until("counted", async () => (await road.intent(intent)).counted_units === 5n);
    return intent;
  }

  async function until(description: string, isDone: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now();
    while (!(await isDone())) {
      assert.ok(performance.now() - startedAt < WAIT_MS_MAX, `${description} within ${WAIT_MS_MAX} ms`);
      await delay(20);
    }
  }

  test("pushed heads find, count and settle deposits without polling", async (context) => {
    const feed = await openHeadFeed(context, { pollMs: HOUR_MS, settleAfterMs: 0 });
    await payUntilCounted(feed);
    const intent = await payUntilCounted(feed);
    await until("settled", async () => (await feed.road.intent(intent)).settled_units === 5n);
  });

  test("a lost connection reconnects, and missed deposits are found", async (context) => {
    const feed = await openHeadFeed(context, { pollMs: HOUR_MS });
    const { road, proxy } = feed;
    const before = proxy.connections();
    proxy.refuseConnections();
    const missed = await road.create();
    await road.pay(missed, 5n);
    proxy.acceptConnections();
    await until("counted", async () => (await road.intent(missed)).counted_units === 5n);
    await until("reconnected", async () => proxy.connections() > before);
    await payUntilCounted(feed);
    await payUntilCounted(feed);
  });

  test("polling finds deposits while the connection is silent", async (context) => {
    const feed = await openHeadFeed(context, { pollMs: 200 });
    feed.proxy.dropAllFrames();
    await payUntilCounted(feed);
    await payUntilCounted(feed);
  });

  test("pushed replacement blocks orphan the replaced blocks", async (context) => {
    const feed = await openHeadFeed(context, { pollMs: HOUR_MS });
    const { id } = await payUntilCounted(feed);
    await feed.road.chain.reorg(1);
    await feed.road.chain.mine(1);
    const { db } = feed.road.world;
    await until("taken back", async () => {
      const query = db.root.selectFrom("movement").select("orphaned_at").where("intent_id", "=", id);
      return (await query.executeTakeFirstOrThrow()).orphaned_at !== null;
    });
    await payUntilCounted(feed);
  });
});
