import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { EvmProviders } from "../../src/chain/evm/evmProviders.ts";
import { CallReverted, type EvmCall } from "../../src/chain/evm/node.ts";
import { EvmSender } from "../../src/chain/evm/send/evmSender.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { createSenderContext } from "../../src/chain/evm/send/senderContext.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { submitSettlements } from "../../src/settlement/submitSettlements.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { openRoad, type Road } from "../support/road.ts";
import { countMoney } from "../support/countMoney.ts";

describe("an inbox that makes every call revert", () => {
  let road: Road;
  before(async () => {
    road = await openRoad();
  });
  after(() => road.close());

  /** A driver whose `call` or `estimateGas` reverts when the call names the intent's inbox. */
  function rejectCallsFor(
    providers: EvmProviders,
    method: "call" | "estimateGas",
    revertingIntent: IntentRow,
  ): EvmProviders {
    return new Proxy(providers, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        if (key !== method) return value.bind(target);
        return async (call: EvmCall) => {
          if (call.data.includes(revertingIntent.inbox_salt.slice(2))) throw new CallReverted("out of everything");
          return value.call(target, call);
        };
      },
    });
  }

  for (const method of ["call", "estimateGas"] as const) {
    test(`a revert in ${method} delays only that inbox, and all others settle`, async () => {
      const { world, chain } = road;
      const opened = world.chains.get(chain.caip2);
      assert.ok(opened);
      const intents = [];
      for (let index = 0; index < 5; index += 1) intents.push(await road.create());
      for (const intent of intents) await road.pay(intent, 1_000n);
      await watchChain(world, opened);
      await processMovements(world, chain.caip2);
      await countMoney(world, chain.caip2);
      await planSettlements(world, chain.caip2);
      const [, , reverting] = intents;
      assert.ok(reverting);
      assert.ok(opened.providers instanceof EvmProviders);
      const providers = rejectCallsFor(opened.providers, method, reverting);
      const gasAccount = openGasAccount(DEV_ACCOUNTS.operator.privateKey);
      const sender = new EvmSender(createSenderContext(providers, gasAccount));
      assert.equal(await submitSettlements(world, { chain: { ...opened, sender } }), 4);
      await road.settle();
      for (const intent of intents) {
        const [settlement] = await road.settlements(intent);
        if (intent !== reverting) assert.equal(settlement?.status, "landed");
        else
          assert.deepEqual([settlement?.status, settlement?.reason], ["planned", "settle_refused out of everything"]);
      }
    });
  }
});
