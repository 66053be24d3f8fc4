import assert from "node:assert/strict";
import process from "node:process";
import { after, before, beforeEach, describe, test } from "node:test";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { pino } from "pino";
import { LOCAL_MINTS } from "../../packages/local-solana/src/fixtures.ts";
import { findTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { changeAmount, forgeDeposit, forkAfter, freezeAt, moveToSlot, omitDeposit } from "../support/solanaLiars.ts";
import { startSolanaProxy, type SolanaFault, type SolanaProxy } from "../support/solanaProxy.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";
import { drawBytes } from "../support/drawBytes.ts";

// One of three providers of a Solana chain lies, from the payment on: nothing is counted wrongly, everything is
// settled, and the operator learns the liar's name.

const USDC = 1_000_000n;
const UNITS = 7n * USDC;
const PROVIDERS = 3;
/** Ends every cooldown of a provider. */
const COOLDOWN_MS = 700_000;

type Paid = { signature: string; tokenAccount: string; units: bigint; owner: string; slot: number };

/** A sample of the lies, by the place of the liar. The deep tests tell all of them at both places. */
const SAMPLE = { 0: [omitDeposit, raiseAmount, moveBack, freeze], 2: [raiseAmount] } as const;
const IS_ALL = process.env["PROVIDER_LIES"] === "all";

for (const liarIndex of [0, 2] as const)
  describe(`a Solana chain whose ${liarIndex === 0 ? "first" : "last"} provider lies`, () => {
    let road: SolanaRoad;
    let proxies: SolanaProxy[];
    let liar: SolanaProxy;
    let liarName: string;
    const lines: string[] = [];
    before(async () => {
      road = await openSolanaRoad({
        agreement: { providers: 2, abovePriceUnits: 0n },
        rpcUrls: async (honest) => {
          proxies = await Promise.all(Array.from({ length: PROVIDERS }, () => startSolanaProxy(honest)));
          return proxies.map(({ url }) => url);
        },
        log: pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
      });
      const chosen = proxies[liarIndex];
      assert.ok(chosen);
      liar = chosen;
      liarName = new URL(liar.url).host;
    });
    beforeEach(async () => {
      liar.fault = undefined;
      road.advance(COOLDOWN_MS);
      for (let rounds = 0; rounds < 3; rounds += 1) {
        await road.tick();
        road.solana.control.nextSlot();
      }
      lines.length = 0;
    });
    after(async () => {
      await road.close();
      for (const proxy of proxies) proxy.close();
    });

    const accountOf = (owner: string) => findTokenAccount({ owner, mint: LOCAL_MINTS.USDC.address });
    const payNew = async (): Promise<{ intent: IntentRow; paid: Paid }> => {
      const intent = await road.create();
      const { slot } = road.solana.control;
      const signature = road.pay(intent, UNITS);
      const owner = intent.inbox_address;
      return { intent, paid: { signature, tokenAccount: accountOf(owner), units: UNITS, owner, slot } };
    };
    const assertExact = async (intent: IntentRow) => {
      const now = await road.intent(intent);
      assert.deepEqual(
        [now.received_units, now.counted_units, now.settled_units, now.net_units],
        [UNITS, UNITS, UNITS, 6_965_000n],
      );
      const deposits = await road.db.root
        .selectFrom("deposit")
        .selectAll()
        .where("intent_id", "=", intent.id)
        .execute();
      assert.deepEqual(
        deposits.filter(({ status }) => status !== "dropped").map(({ status }) => status),
        ["counted"],
      );
    };
    const isNamed = () => lines.some((line) => line.includes(liarName));

    const lies: readonly (readonly [string, (paid: Paid) => SolanaFault])[] = [
      ["omits the payment everywhere", omitDeposit],
      ["shows the balance and omits the payment", omitFromLists],
      ["claims a thousand times the amount", raiseAmount],
      ["claims less", (paid) => changeAmount(paid, 1n)],
      ["shows the payment in a block that is already final", moveBack],
      ["shows the payment in a later block", (paid) => moveToSlot(paid, paid.slot + 1)],
      ["stays at an old block", freeze],
      ["is on a fork", ({ slot }) => forkAfter(slot - 3)],
      [
        "sends garbage",
        () =>
          async ({ method }) => ({ result: method.length % 2 === 0 ? { value: "?" } : [7, null] }),
      ],
      ["limits its rate", () => async () => ({ error: { code: 429, message: "Too many requests" } })],
    ];
    for (const [what, lie] of lies.filter(([, each]) => IS_ALL || SAMPLE[liarIndex].some((one) => one === each)))
      test(`it ${what}: the payment is counted once, settled to the unit`, async () => {
        const { intent, paid } = await payNew();
        liar.fault = lie(paid);
        await road.untilLanded(intent);
        await assertExact(intent);
        // What the last provider does not list, nobody asks it for.
        if (lie === omitFromLists && liarIndex > 0) return;
        for (let rounds = 0; rounds < 120 && !isNamed(); rounds += 1) {
          await road.tick();
          road.solana.control.nextSlot();
          road.advance(2_000);
        }
        await assertExact(intent);
        assert.ok(isNamed(), "no line names the provider");
      });

    test("it invents a payment: nothing is counted, and a true one is", async () => {
      const { intent: other, paid: template } = await payNew();
      const victim = await road.create();
      const owner = victim.inbox_address;
      const signature = encodeBase58(drawBytes(64));
      const forged = { tokenAccount: accountOf(owner), owner, mint: LOCAL_MINTS.USDC.address };
      liar.fault = forgeDeposit({ template, victim: forged, signature });
      await road.untilLanded(other);
      for (let rounds = 0; rounds < (isNamed() ? 10 : 60); rounds += 1) {
        await road.tick();
        road.solana.control.nextSlot();
        road.advance(2_000);
        assert.equal((await road.intent(victim)).counted_units, 0n);
      }
      assert.ok(isNamed(), "no line names the provider");
      assert.deepEqual(await road.settlements(victim), []);
      liar.fault = undefined;
      road.pay(victim, UNITS);
      await road.untilLanded(victim);
      await assertExact(victim);
    });
  });

function raiseAmount(paid: Paid): SolanaFault {
  return changeAmount(paid, 1_000n * UNITS);
}

function moveBack(paid: Paid): SolanaFault {
  return moveToSlot(paid, paid.slot - 6);
}

function freeze({ slot }: Paid): SolanaFault {
  return freezeAt(slot - 1);
}

function omitFromLists({ signature }: Paid): SolanaFault {
  return async (call, forward) => {
    const answer = await forward();
    if (call.method === "getTransaction" && call.params[0] === signature) return { result: null };
    if (call.method !== "getSignaturesForAddress" || answer.error !== undefined) return answer;
    return { result: (answer.result as { signature: string }[]).filter((each) => each.signature !== signature) };
  };
}
