import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { runLoops } from "../../src/loops/runLoops.ts";
import { openRoad, type Road } from "../support/road.ts";
import { openWebSocketProxy, type WebSocketProxy } from "../support/webSocketProxy.ts";

// Every loop runs, over a websocket that a test can cut and silence. Where the polling interval is an hour, nothing is found by asking.

const HOUR_MS = 3_600_000;
const WAIT_MS_MAX = 60_000;

type HeadFeedContext = { road: Road; gate: WebSocketProxy };

describe("blocks that are pushed", () => {
  async function openHeadFeedContext(
    context: TestContext,
    chain: { pollMs: number; settleAfterMs?: number },
  ): Promise<HeadFeedContext> {
    const gates: WebSocketProxy[] = [];
    const wsUrl = async ({ rpcUrl }: { rpcUrl: string }) => {
      const gate = await openWebSocketProxy(rpcUrl);
      gates.push(gate);
      return gate.url;
    };
    const road = await openRoad({ wsUrl, chain: { settleAfterMs: HOUR_MS, ...chain } });
    const [gate] = gates;
    assert.ok(gate);
    const ending = new AbortController();
    const loops = runLoops(road.world, ending.signal);
    context.after(async () => {
      ending.abort();
      await loops;
      await gate.close();
      await road.close();
    });
    const scene = { road, gate };
    // Once it listens, the chain is looked at: only what is paid after that is found by heads alone.
    await payUntilCounted(scene);
    return scene;
  }

  async function payUntilCounted({ road }: HeadFeedContext): Promise<{ id: string }> {
    const intent = await road.create();
    await road.pay(intent, 5n);
    await until("counted", async () => (await road.intent(intent)).counted_units === 5n);
    return intent;
  }

  async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now();
    while (!(await isSo())) {
      assert.ok(performance.now() - startedAt < WAIT_MS_MAX, `${what} within ${WAIT_MS_MAX} ms`);
      await delay(20);
    }
  }

  test("deposits are found, counted and settled although nobody asks for the head", async (context) => {
    const scene = await openHeadFeedContext(context, { pollMs: HOUR_MS, settleAfterMs: 0 });
    await payUntilCounted(scene);
    const intent = await payUntilCounted(scene);
    await until("settled", async () => (await scene.road.intent(intent)).settled_units === 5n);
  });

  test("after a connection is lost it is opened again, and what was missed is found", async (context) => {
    const scene = await openHeadFeedContext(context, { pollMs: HOUR_MS });
    const { road, gate } = scene;
    const before = gate.connections();
    gate.refuseConnections();
    const missed = await road.create();
    await road.pay(missed, 5n);
    gate.acceptConnections();
    await until("counted", async () => (await road.intent(missed)).counted_units === 5n);
    assert.ok(gate.connections() > before);
    await payUntilCounted(scene);
    await payUntilCounted(scene);
  });

  test("while a connection is silent everything is found by asking", async (context) => {
    const scene = await openHeadFeedContext(context, { pollMs: 200 });
    scene.gate.dropAllFrames();
    await payUntilCounted(scene);
    await payUntilCounted(scene);
  });

  test("blocks that are replaced are taken back when those are told that replace them", async (context) => {
    const scene = await openHeadFeedContext(context, { pollMs: HOUR_MS });
    const { id } = await payUntilCounted(scene);
    await scene.road.chain.reorg(1);
    await scene.road.chain.mine(1);
    const { db } = scene.road.world;
    await until("taken back", async () => {
      const query = db.root.selectFrom("movement").select("orphaned_at").where("intent_id", "=", id);
      return (await query.executeTakeFirstOrThrow()).orphaned_at !== null;
    });
    await payUntilCounted(scene);
  });
});
