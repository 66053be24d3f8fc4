import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createLoops } from "../../src/loops/runLoops.ts";
import { openRoad, type Road } from "../support/road.ts";

type WokenRoad = Road & {
  /**
   * Mines a block, polls the chain, and runs what that wakes until nothing is woken. Returns the names of the loops. No
   * interval passes.
   */
  mineAndRun(): Promise<Set<string>>;
};

async function openWokenRoad(context: TestContext): Promise<WokenRoad> {
  const road = await openRoad({ chain: { finality: [{ upToPriceUnits: undefined, finality: { confirmations: 4 } }] } });
  context.after(() => road.close());
  const woken = new Set<string>();
  const wake = { notify: (topic: string) => void woken.add(topic), wait: async () => {} };
  const loops = createLoops({ ...road.world, wake });
  const poll = loops.find(({ name }) => name.startsWith("watch"));
  async function mineAndRun(): Promise<Set<string>> {
    await road.chain.mine(1);
    while (await poll?.tick());
    const ran = new Set<string>();
    for (let topic = [...woken][0]; topic !== undefined; topic = [...woken][0]) {
      woken.delete(topic);
      for (const loop of loops.filter((each) => each.topic === topic)) {
        ran.add(loop.name.split(" eip155:")[0] ?? "");
        while (await loop.tick());
      }
    }
    return ran;
  }
  return { ...road, mineAndRun };
}

test("a block without transfers of inboxes wakes only what waits for blocks", async (context) => {
  const road = await openWokenRoad(context);
  await road.mineAndRun();
  assert.deepEqual([...(await road.mineAndRun())].toSorted(), ["deposits", "dust", "send transactions"]);
});

test("each step of a payment wakes the next one, up to its payout", async (context) => {
  const road = await openWokenRoad(context);
  const intent = await road.create();
  await road.pay(intent, 1_000n);
  const states: (string | undefined)[] = [];
  // Seen, final four blocks later, then the block of the sweep.
  for (let blocks = 0; blocks < 7; blocks += 1) {
    await road.mineAndRun();
    states.push((await road.settlements(intent))[0]?.status);
  }
  assert.equal(states.at(-1), "landed", states.join());
  const events = await road.world.db.root.selectFrom("event").select("id").where("sequence", "is", null).execute();
  assert.deepEqual(events, []);
});
