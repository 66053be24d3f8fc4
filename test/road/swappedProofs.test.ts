import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { sql } from "kysely";
import { findServiceFailure } from "../../src/bridge/askService.ts";
import { trackCrossings } from "../../src/bridge/trackCrossings.ts";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { addMs } from "../../src/kernel/clock.ts";
import { openBridgedPair, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";

// Answers of a bridge's service that are sound proofs, and not those of the burn that it was asked about.

const UNITS = 20_000_000n;
const MINUTE_MS = 60_000;

describe("proofs of equal burns", () => {
  let road: BridgedRoad;
  let home: TestChain;
  let away: TestChain;
  before(async () => {
    ({ road, home, away } = await openBridgedPair());
  });
  afterEach(() => {
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
  });
  after(() => road.close());

  const crossingsOf = ({ id }: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", id).orderBy("movement_id").execute();
  const messagesOf = async (chainTx: string) =>
    (await fetch(`${road.attestation.url}/v2/messages/1?transactionHash=${chainTx}`)).json();

  for (const count of [2, 3])
    test(`${count} equal burns of an inbox all land although the first was answered with the proof of another`, async () => {
      const { settings } = road.attestation;
      settings.delayReason = "waiting";
      const intent = await road.create(home);
      const paidBefore = (await road.balances(home, intent)).payout;
      for (let burns = 1; burns <= count; burns += 1) {
        await road.pay(away, intent, UNITS);
        await road.until(async () => (await crossingsOf(intent)).length === burns);
      }
      const chainTxs = (await crossingsOf(intent)).map(({ chain_tx }) => chain_tx);
      settings.delayReason = undefined;
      // The service knows the last proof when it is asked about the first, and about no other for some rounds.
      const last = (await messagesOf(chainTxs.at(-1) ?? "")) as { messages: { message: string }[] };
      const later = addMs(road.world.clock.now(), 10_000);
      await sql`update crossing set retry_at = ${later} where intent_id = ${intent.id} and chain_tx <> ${chainTxs[0]}`.execute(
        road.db.root,
      );
      settings.swapsOnce = true;
      await road.until(async () => (await crossingsOf(intent))[0]?.status === "attested", { isReceiving: false });
      assert.equal((await crossingsOf(intent))[0]?.message, last.messages[0]?.message);
      await road.untilLanded(intent, count);
      assert.equal(settings.swapsOnce, false, "it has swapped");
      const crossings = await crossingsOf(intent);
      assert.equal(new Set(crossings.map(({ mint }) => mint)).size, count);
      const { payout, inbox } = await road.balances(home, intent);
      const nets = (await road.settlements(intent)).map(({ net_units }) => net_units ?? 0n);
      assert.equal(
        payout - paidBefore,
        nets.reduce((sum, net) => sum + net, 0n),
      );
      assert.equal(inbox, 0n);
    });

  test("a service that refuses to renew a proof does not count as failing, and its messages are read in the same turn", async () => {
    const { settings, requests } = road.attestation;
    settings.expiresAfterBlocks = 1n;
    settings.refusesRenewals = true;
    settings.delayReason = "waiting";
    const intent = await road.create(home);
    await road.pay(away, intent, UNITS);
    await road.until(async () => (await crossingsOf(intent)).length === 1);
    settings.delayReason = undefined;
    await messagesOf((await crossingsOf(intent))[0]?.chain_tx ?? "");
    await home.mine(5);
    await road.until(async () => (await crossingsOf(intent))[0]?.reason === "proof_asked_for_anew");
    const paths = requests.map(({ path }) => path.split("/")[2]);
    const refused = paths.lastIndexOf("reattest");
    assert.deepEqual(paths.slice(refused, refused + 2), ["reattest", "messages"]);
    assert.equal(findServiceFailure(road.world), undefined);
    // Renewals are not asked for all the time.
    const renewals = () => requests.filter(({ path }) => path.startsWith("/v2/reattest/")).length;
    const before = renewals();
    assert.ok(road.world.bridge);
    for (let minute = 0; minute < 30; minute += 1) {
      road.advance(MINUTE_MS);
      await trackCrossings(road.world, road.world.bridge);
    }
    const asked = renewals() - before;
    assert.ok(asked >= 1 && asked <= 4, `${asked} renewals in half an hour`);
    settings.refusesRenewals = false;
    settings.expiresAfterBlocks = DEFAULT_SETTINGS.expiresAfterBlocks;
    for (let minute = 0; minute < 15; minute += 1) {
      road.advance(MINUTE_MS);
      await trackCrossings(road.world, road.world.bridge);
    }
    await road.untilLanded(intent);
  });
});
