import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CallReverted, type ChainCall, type ChainDriver } from "../../src/chain/driver.ts";
import { countDeposits } from "../../src/deposit/countDeposits.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { openRoad, type Road } from "../support/road.ts";

describe("an inbox that makes the chain refuse every call it is in", () => {
  let road: Road;
  before(async () => {
    road = await openRoad();
  });
  after(() => road.close());

  /** A chain that refuses to run, or only to price, whatever names the intent's inbox. */
  function rejectCallsFor(
    driver: ChainDriver,
    method: "call" | "estimateGas",
    revertingIntent: IntentRow,
  ): ChainDriver {
    return new Proxy(driver, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        if (key !== method) return value.bind(target);
        return async (call: ChainCall) => {
          if (call.data.includes(revertingIntent.inbox_salt.slice(2))) throw new CallReverted("out of everything");
          return value.call(target, call);
        };
      },
    });
  }

  for (const method of ["call", "estimateGas"] as const) {
    test(`H75 it is put off alone when ${method} refuses it, and all others are settled`, async () => {
      const { world, chain } = road;
      const opened = world.chains.get(chain.caip2);
      assert.ok(opened);
      const intents = [];
      for (let index = 0; index < 5; index += 1) intents.push(await road.create());
      for (const intent of intents) await road.pay(intent, 1_000n);
      await watchChain(world, opened);
      await processMovements(world, chain.caip2);
      await countDeposits(world, chain.caip2);
      await planSettlements(world, chain.caip2);
      const [, , poison] = intents;
      assert.ok(poison);
      const driver = rejectCallsFor(opened.providers, method, poison);
      assert.equal(await submitSettlements(world, { chain: opened, driver }), 4);
      await road.settle();
      for (const intent of intents) {
        const [settlement] = await road.settlements(intent);
        if (intent !== poison) assert.equal(settlement?.status, "landed");
        else
          assert.deepEqual([settlement?.status, settlement?.reason], ["planned", "settle_refused out of everything"]);
      }
    });
  }
});
