import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import { activeAlarms, updateAlarms } from "../../src/alarm/updateAlarms.ts";
import { findBurns } from "../../src/bridge/findBurns.ts";
import { evmTerms } from "../../src/chain/evm/send/settleCall.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { toSettleItem } from "../../src/intent/pins/ownInbox.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { suspendMints } from "../../src/settlement/crossing/suspendMints.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { openFaultyRpcProxy, type FaultyRpcProxy } from "../support/faultyRpcProxy.ts";
import { burnAsStranger, hide } from "../support/hiddenBurns.ts";

const UNITS = 20_000_000n;
const MINUTE_MS = 60_000;
/** By which a clock steps back: more than the longest wait of a search. */
const STEP_MS = 5 * 60 * MINUTE_MS;
const { stranger } = DEV_ACCOUNTS;
const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);

describe("a payment and its burn that the only provider of their chain hides", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  let proxy: FaultyRpcProxy | undefined;
  before(async () => {
    road = await openBridgedRoad({
      chains: 2,
      rpcUrlsOf: async (chain) => {
        const opened = await openFaultyRpcProxy(chain.rpcUrl);
        // The second chain is the payments' one.
        if (chain.chainId === 900_002) proxy = opened;
        else proxies.push(opened);
        return [opened.url];
      },
    });
    const [first, second] = road.chains;
    assert.ok(first !== undefined && second !== undefined);
    [home, away] = [first, second];
    // Before the clock runs ahead of the chains: an inbox is searched down to the block before it existed.
    for (const isSettling of [false, true]) intents.set(isSettling, await road.create(home));
  });
  const intents = new Map<boolean, IntentRow>();
  const proxies: FaultyRpcProxy[] = [];
  after(async () => {
    await road.close();
    await Promise.all([...proxies, ...(proxy ? [proxy] : [])].map((each) => each.close()));
  });

  const awaited = async () => (await road.db.root.selectFrom("awaited_burn").select("mint_id").execute()).length;
  const searchBurns = async () => {
    for (const chain of road.world.chains.values()) await findBurns(road.world, chain);
  };
  async function unknownBurns() {
    await updateAlarms(road.world);
    return activeAlarms(road.world).flatMap(({ alarm, subject, facts }) =>
      alarm === "burn_unknown" ? [[subject, facts["mints"], facts["bridge"], facts["intent"]]] : [],
    );
  }

  const burn = (intent: IntentRow) => burnAsStranger(road, { home, away }, intent);

  for (const isSettling of [false, true])
    test(`its mint${isSettling ? ", settled by a stranger," : ""} is reported, and the books are whole once the provider is honest`, async () => {
      const intent = intents.get(isSettling);
      assert.ok(intent);
      const paidBefore = (await road.balances(home, intent)).payout;
      assert.ok(proxy);
      proxy.alterReply = hide(intent);
      await road.pay(away, intent, UNITS);
      const { message, attestation } = await burn(intent);
      const transmitter = road.sides[0]?.bridge.transmitter;
      assert.ok(transmitter);
      const terms = evmTerms(toSettleItem(intent, home.usdc.address));
      const [receipt] = await home.send(stranger, [
        isSettling
          ? {
              to: home.hub,
              data: encodeFunctionData({
                abi: hubAbi,
                functionName: "receiveAndSettle",
                args: [transmitter, message, attestation, terms],
              }),
            }
          : {
              to: transmitter,
              data: encodeFunctionData({ abi: transmitterAbi, args: [message, attestation] }),
            },
      ]);
      assert.equal(receipt?.status, "success");
      await road.until(async () => (await awaited()) > 0);
      await away.finalize();
      await home.finalize();
      await road.tick();
      assert.deepEqual((await road.settlements(intent)).length, 0, "nothing shows the burn");
      road.advance(11 * MINUTE_MS);
      for (let step = 0; step < 5; step += 1) {
        await searchBurns();
        await road.tick();
        road.advance(MINUTE_MS);
      }
      assert.deepEqual(await unknownBurns(), [[home.caip2, 1, "cctp-v2/1", intent.id]]);
      assert.equal((await road.intent(intent)).counted_units, 0n);
      proxy.alterReply = undefined;
      road.advance(60 * MINUTE_MS);
      for (let step = 0; step < 5; step += 1) {
        await searchBurns();
        road.advance(MINUTE_MS);
      }
      await road.untilLanded(intent);
      const [settlement, ...others] = (await road.settlements(intent)).map(settlementRecord);
      const { status, grossUnits, netUnits } = settlement ?? {};
      const { payout, inbox } = await road.balances(home, intent);
      assert.deepEqual(
        [others.length, status, grossUnits, BigInt(netUnits ?? 0), inbox, (await road.intent(intent)).counted_units],
        [0, "landed", String(UNITS), payout - paidBefore, 0n, UNITS],
      );
      road.advance(5 * MINUTE_MS);
      await searchBurns();
      assert.deepEqual([await awaited(), await unknownBurns()], [0, []]);
    });

  test("a burn that is known, or that its proof may still name, is no alarm", async () => {
    const intent = await road.create(home);
    road.attestation.settings.delayReason = "insufficient_fee";
    await road.pay(away, intent, UNITS);
    const crossingOf = () =>
      road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", intent.id).executeTakeFirst();
    await road.until(async () => (await crossingOf()) !== undefined);
    // A stranger has the proof before this service.
    road.attestation.settings.delayReason = undefined;
    const path = `/v2/messages/1?transactionHash=${(await crossingOf())?.chain_tx}`;
    const { messages } = (await (await fetch(`${road.attestation.url}${path}`)).json()) as {
      messages: { message: Hex; attestation: Hex }[];
    };
    road.attestation.setAnswering(false);
    const args = [messages[0]?.message ?? "0x", messages[0]?.attestation ?? "0x"] as const;
    await home.send(stranger, [
      { to: road.sides[0]?.bridge.transmitter ?? "0x", data: encodeFunctionData({ abi: transmitterAbi, args }) },
    ]);
    await road.until(async () => (await awaited()) > 0);
    for (let minute = 0; minute < 30; minute += 1) {
      road.advance(MINUTE_MS);
      await searchBurns();
    }
    assert.deepEqual([await awaited(), await unknownBurns()], [1, []]);
    road.advance(-STEP_MS);
    for (let minute = 0; minute < 15; minute += 1) {
      road.advance(MINUTE_MS);
      await searchBurns();
    }
    assert.deepEqual([await awaited(), await unknownBurns()], [1, []], "after the clock stepped back");
    const searches = await road.db.root.selectFrom("awaited_burn").select(["attempts", "searched_number"]).execute();
    assert.deepEqual(searches, [{ attempts: 0, searched_number: null }], "no search has begun");
    road.advance(STEP_MS);
    const suspended = await suspendMints(road.world, home.caip2);
    assert.deepEqual([suspended, await unknownBurns()], [0, []], "after it stepped forward again");
    await searchBurns();
    road.attestation.setAnswering(true);
    await road.untilLanded(intent);
    road.advance(2 * MINUTE_MS);
    await searchBurns();
    assert.equal(await awaited(), 0);
  });
});
