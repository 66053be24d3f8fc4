import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { buildSettle } from "@tributary/inbox/solana/instructions";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { findTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import { toSolanaPayTerms } from "../../src/chain/solana/intentInbox.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { startSolanaProxy, type SolanaProxy } from "../support/solanaProxy.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";

const UNITS = 7_000_000n;
const HOUR_MS = 3_600_000;

describe("the first of three providers shows another inbox in a real settlement, an hour later", () => {
  let road: SolanaRoad;
  let proxies: SolanaProxy[];
  before(async () => {
    road = await openSolanaRoad({
      agreement: { providers: 2, abovePriceUnits: 0n },
      settleAfterMs: 30 * HOUR_MS,
      rpcUrls: async (honest) => {
        proxies = await Promise.all(Array.from({ length: 3 }, () => startSolanaProxy(honest)));
        return proxies.map(({ url }) => url);
      },
    });
  });
  after(async () => {
    await road.close();
    for (const proxy of proxies) proxy.close();
  });
  const inboxOf = (intent: IntentRow) =>
    computeSolanaInbox(toSolanaPayTerms(intent), {
      program: intent.inbox_hub,
      tokenProgram: intent.inbox_implementation,
    });
  const accountOf = (owner: string) => findTokenAccount({ owner, mint: LOCAL_MINTS.USDC.address });

  test("the other providers confirm the real one, and its version settles nothing", async () => {
    const victim = await road.create();
    road.pay(victim, UNITS);
    await road.until(async () => (await road.intent(victim)).counted_units === UNITS);
    const other = await road.create();
    road.pay(other, UNITS);
    await road.until(async () => (await road.intent(other)).counted_units === UNITS);
    const signature = road.solana.control.send([SOLANA_ACCOUNTS.stranger], [buildSettle([inboxOf(other)])]);
    await road.untilLanded(other);
    for (let i = 0; i < 10; i += 1) {
      await road.tick();
      road.solana.control.nextSlot();
    }
    const [liar] = proxies;
    assert.ok(liar);
    liar.fault = async (call, forward) => {
      const answer = await forward();
      if (call.method !== "getTransaction" || call.params[0] !== signature) return answer;
      const text = JSON.stringify(answer)
        .replaceAll(accountOf(other.inbox_address), accountOf(victim.inbox_address))
        .replaceAll(other.inbox_address, victim.inbox_address);
      return JSON.parse(text) as typeof answer;
    };
    for (let i = 0; i < 40; i += 1) {
      await road.tick();
      road.solana.control.nextSlot();
      road.advance(600_000);
    }
    assert.deepEqual(await road.settlements(victim), []);
    assert.equal((await road.intent(victim)).settled_units, 0n);
    assert.equal(road.unitsOf(victim.inbox_address), UNITS);
  });
});
