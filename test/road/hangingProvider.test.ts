import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chain } from "../../src/chain/chain.ts";
import { createLoops } from "../../src/loops/runLoops.ts";
import { openRoad } from "../support/road.ts";

/** The chain with a sender whose method never answers until `release`. */
function withHangingSender(chain: Chain, method: "refusals" | "process"): { chain: Chain; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sender = new Proxy(chain.sender, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (key !== method) return value.bind(target);
      return async (...args: unknown[]) => {
        await promise;
        return value.apply(target, args);
      };
    },
  });
  return { chain: { ...chain, sender }, release: resolve };
}

for (const method of ["refusals", "process"] as const) {
  test(`a provider that hangs in ${method} does not stop observing and planning`, async (context) => {
    const road = await openRoad();
    context.after(() => road.close());
    const opened = road.world.chains.get(road.chain.caip2);
    assert.ok(opened);
    const { chain, release } = withHangingSender(opened, method);
    const world = { ...road.world, chains: new Map([[chain.caip2, chain]]) };
    const pending: Promise<unknown>[] = [];
    /** One tick of each loop. Those of the hanging sender are not awaited. */
    const tick = async () => {
      for (const { name, tick: run } of createLoops(world)) {
        // A tick of a feed lasts as long as its connection.
        if (/^(listen|follow)/.test(name)) continue;
        const call = run();
        const mayHang = name.startsWith(method === "process" ? "send transactions" : "submit settlements");
        if (mayHang) pending.push(call);
        else await call;
      }
    };
    const [swept, planned] = [await road.create(), await road.create()];
    await road.pay(swept, 1_000n);
    for (let ticks = 0; ticks < 5 && (await road.settlements(swept))[0]?.status !== "submitted"; ticks += 1)
      await road.tick();
    assert.deepEqual(
      (await road.settlements(swept)).map(({ status }) => status),
      ["submitted"],
    );
    await road.pay(planned, 1_000n);
    for (let ticks = 0; ticks < 10 && (await road.settlements(planned)).length === 0; ticks += 1) {
      await road.chain.mine(1);
      await tick();
    }
    assert.deepEqual(
      (await road.settlements(swept)).map(({ status }) => status),
      ["landed"],
    );
    assert.equal((await road.settlements(planned)).length, 1);
    release();
    await Promise.allSettled(pending);
    await road.settle();
    assert.equal((await road.settlements(planned))[0]?.status, "landed");
  });
}
