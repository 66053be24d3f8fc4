import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openSolanaCrossing, type SolanaCrossingRoad } from "../support/solanaCrossing.ts";
import { startSolanaProxy, type SolanaProxy } from "../support/solanaProxy.ts";

// One URL leads to two honest nodes, of which one is behind the other. It answers null for newer transactions, as a node
// does for what does not exist.

const USDC = 1_000_000n;

describe("a node that lacks the transactions of a crossing", () => {
  let road: SolanaCrossingRoad;
  let proxy: SolanaProxy;
  before(async () => {
    road = await openSolanaCrossing({
      rpcUrls: async (honest) => {
        proxy = await startSolanaProxy(honest);
        return [proxy.url];
      },
    });
  });
  after(async () => {
    await road.close();
    proxy.close();
  });

  /** From now on the node that is behind gets the second question about each transaction. */
  function letOneLag(): void {
    const asked = new Map<unknown, number>();
    proxy.fault = async (call, forward) => {
      if (call.method !== "getTransaction") return forward();
      const [signature] = call.params;
      const count = (asked.get(signature) ?? 0) + 1;
      asked.set(signature, count);
      return count === 2 ? { result: null } : forward();
    };
  }

  test("what a bridge gives on Solana is no payment", async () => {
    const intent = await road.createOnSolana({ priceUnits: 150_000_000, oneTime: true });
    const inbox = await road.issueOnEvm(intent);
    letOneLag();
    await road.payOnEvm(inbox, 100n * USDC);
    await road.untilLanded(intent);
    const { counted_units: counted, status } = await road.intent(intent);
    assert.deepEqual([counted, status], [100n * USDC, "active"]);
  });

  test("what it takes there arrives on the EVM chain", async () => {
    const intent = await road.create();
    const inbox = await road.issue(intent);
    letOneLag();
    road.pay(inbox, 20n * USDC);
    await road.untilLanded(intent);
    const [settlement] = await road.settlements(intent);
    assert.deepEqual([settlement?.reason, settlement?.net_units], [null, 19_897_413n]);
  });
});
