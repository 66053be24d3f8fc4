import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { sql } from "kysely";
import { encodeFunctionData, parseAbi, type Hex } from "viem";
import { DEFAULT_SETTINGS } from "../../src/dev/attestation/localAttestation.ts";
import {
  denylistCall,
  setBurnLimitCall,
  setMinFeeCall,
  setPausedCall,
  undenylistCall,
  type LocalBridge,
} from "../../src/dev/chains/bridge.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { assertAllChecks } from "../support/ledgerAssertions.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import type { TestChain } from "../support/chain.ts";
import { onlyDeep } from "../support/runNumber.ts";

const USDC = 1_000_000n;
const { stranger, issuer, payer } = DEV_ACCOUNTS;

describe("paying on one chain and settling on another", () => {
  let road: BridgedRoad;
  let chains: [home: TestChain, away: TestChain, other: TestChain];
  before(async () => {
    road = await openBridgedRoad();
    const [home, away, other] = road.chains;
    assert.ok(home !== undefined && away !== undefined && other !== undefined);
    chains = [home, away, other];
  });
  afterEach(() => {
    // The last known fees stay in use for a minute.
    road.advance(120_000);
    Object.assign(road.attestation.settings, DEFAULT_SETTINGS);
    road.attestation.setAnswering(true);
  });
  after(() => road.close());

  const bridgeOf = (chain: TestChain): LocalBridge => {
    const side = road.sides.find(({ chainId }) => chainId === chain.chainId);
    assert.ok(side);
    return side.bridge;
  };
  const amountsOf = async (intent: IntentRow) =>
    (await road.settlements(intent)).map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits } = settlementRecord(row);
      return [status, ...[grossUnits, routeCostUnits, feeUnits, netUnits].map(Number)];
    });
  const isBridging = async (intent: IntentRow) =>
    (await road.settlements(intent)).some(({ status }) => status === "bridging");
  const crossingOf = (intent: IntentRow) =>
    road.db.root.selectFrom("crossing").selectAll().where("intent_id", "=", intent.id).executeTakeFirst();
  const isAttested = async (intent: IntentRow) => (await crossingOf(intent))?.status === "attested";

  test("D5 D40 D41 1,000 USDC by a fast crossing pay 994.870650 to the merchant, 4.999350 to the platform and 0.130000 to the bridge", async () => {
    const [home, away] = chains;
    const intent = await road.create(home, { priceUnits: 1_000_000_000, oneTime: true });
    const before = await road.balances(home, intent);
    const paid = await road.pay(away, intent, 1_000n * USDC);
    await road.until(async () => (await road.intent(intent)).status === "settled");
    assert.notEqual(
      (await road.settlements(intent))[0]?.status,
      "landed",
      "it is paid as soon as it is final on its chain",
    );
    await road.untilLanded(intent);
    const balances = await road.balances(home, intent);
    assert.deepEqual(
      [balances.payout - before.payout, balances.fee - before.fee, balances.inbox],
      [994_870_650n, 4_999_350n, 0n],
    );
    assert.deepEqual(await amountsOf(intent), [["landed", 1_000_000_000, 130_000, 4_999_350, 994_870_650]]);
    assert.equal((await road.balances(away, intent)).inbox, 0n);
    const [settlement] = (await road.settlements(intent)).map(settlementRecord);
    assert.deepEqual(
      settlement?.txs.map(({ chain }) => chain),
      [away.caip2, home.caip2],
    );
    assert.ok(settlement?.txs.every(({ txHash }) => txHash !== paid));
    const { rows: ledger } = await sql<{ account: string; units: bigint }>`
      select case when account like 'inbox:%' then 'inbox' else account end as account, sum(amount_units) as units
      from ledger_entry group by 1 order by 1`.execute(road.db.root);
    assert.deepEqual(
      Object.fromEntries(ledger.map(({ account, units }) => [account, Number(units)])),
      {
        "payer:world": -1_000_000_000,
        "payout:world": 994_870_650,
        "fee:platform": 4_999_350,
        "fee:bridge": 130_000,
        "bridge:cctp-v2": 0,
        inbox: 0,
      },
      "the ledger has the same figures",
    );
  });

  test("D5 every origin reaches every rail, a deposit on the settle chain beside them", async () => {
    const [home, away, other] = chains;
    for (const [rail, origins] of [
      [home, [away, other]],
      [away, [home, other]],
    ] as const) {
      const intent = await road.create(rail);
      const before = await road.balances(rail, intent);
      for (const origin of [...origins, rail]) await road.pay(origin, intent, 100n * USDC);
      await road.untilLanded(intent, 3);
      const { payout, fee, inbox } = await road.balances(rail, intent);
      const cost = 2n * 13_000n;
      const feeUnits = ((100n * USDC - 13_000n) * 50n) / 10_000n;
      assert.deepEqual(
        [payout - before.payout + (fee - before.fee), inbox],
        [300n * USDC - cost, 0n],
        "only the bridge's fees are missing",
      );
      assert.ok(fee - before.fee >= 2n * feeUnits + 500_000n - 3n && fee - before.fee <= 2n * feeUnits + 500_000n);
      const { counted_units: counted, settled_units: settled } = await road.intent(intent);
      assert.deepEqual([counted, settled], [300n * USDC, 300n * USDC], "counted at par");
    }
  });

  test("a fast fee above the limit, or above three times, takes the standard crossing, which costs nothing", async () => {
    const [home, away] = chains;
    road.attestation.settings.fastFeeBps = 6;
    const intent = await road.create(home);
    await road.pay(away, intent, 50n * USDC);
    await road.until(() => isBridging(intent));
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 50_000_000, 0, 250_000, 49_750_000]]);
  });

  test("a fee that rises threefold within the pinned cap, and a minimum fee that the issuer sets after the pin, do not strand a deposit", async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    await away.send(issuer, [setMinFeeCall(bridgeOf(away), 1_000n)]);
    road.attestation.settings.fastFeeBps = 3.9;
    await road.pay(away, intent, 100n * USDC);
    await road.untilLanded(intent);
    assert.deepEqual(await amountsOf(intent), [["landed", 100_000_000, 39_000, 499_805, 99_461_195]]);
    await away.send(issuer, [setMinFeeCall(bridgeOf(away), 0n)]);
  });

  test("two days of silence delay a landing and lose nothing", { skip: onlyDeep }, async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    await road.pay(away, intent, 20n * USDC);
    road.attestation.setAnswering(false);
    await road.until(() => isBridging(intent));
    for (let hour = 0; hour < 48; hour += 4) {
      road.advance(4 * 3_600_000);
      await road.tick();
    }
    const { counted_units: counted } = await road.intent(intent);
    assert.deepEqual([await isBridging(intent), counted], [true, 20n * USDC]);
    road.attestation.setAnswering(true);
    await road.untilLanded(intent);
    assert.equal((await road.balances(home, intent)).inbox, 0n);
  });

  test("the states of the bridge's service are told, and a proof lands when it comes", async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    road.attestation.settings.seenAfterMs = Infinity;
    await road.pay(away, intent, 20n * USDC);
    await road.until(() => isBridging(intent));
    const isTold = (reason: string) => async () => (await crossingOf(intent))?.reason === reason;
    await road.until(isTold("not_seen_by_bridge"));
    road.attestation.settings.seenAfterMs = 0;
    road.attestation.settings.delayReason = "insufficient_fee";
    await road.until(isTold("insufficient_fee"));
    road.attestation.settings.delayReason = undefined;
    await road.untilLanded(intent);
  });

  test("a proof that expired is asked for anew, and lands", { skip: onlyDeep }, async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    road.attestation.settings.expiresAfterBlocks = 1n;
    await road.pay(away, intent, 20n * USDC);
    await road.until(() => isBridging(intent));
    // The service signs now, with a proof for the next block only.
    const { chain_tx: chainTx } = (await crossingOf(intent)) ?? {};
    await fetch(`${road.attestation.url}/v2/messages/1?transactionHash=${chainTx}`);
    await home.mine(5);
    // A small burn that anybody sends is no reason for a transaction.
    await home.pay(home.usdc.address, intent.inbox_address as Hex, { amountUnits: 1n });
    await road.until(async () => (await crossingOf(intent))?.reason === "proof_expired");
    assert.equal((await road.balances(home, intent)).inbox, 1n);
    road.attestation.settings.expiresAfterBlocks = DEFAULT_SETTINGS.expiresAfterBlocks;
    await road.untilLanded(intent);
    assert.ok(road.attestation.requests.some(({ path }) => path.startsWith("/v2/reattest/")));
    // The sweep that lands the crossing takes the small burn along.
    assert.equal((await road.balances(home, intent)).inbox, 0n);
    assert.deepEqual(
      (await amountsOf(intent)).map(([status]) => status),
      ["landed", "landed"],
    );
  });

  test("D41 what a stranger receives first lands once, with or without a sweep by him", async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    await road.pay(away, intent, 20n * USDC);
    await road.until(() => isAttested(intent), { isReceiving: false });
    const { message, attestation } = (await crossingOf(intent)) ?? {};
    await receive(home, message as Hex, attestation as Hex);
    assert.notEqual((await road.balances(home, intent)).inbox, 0n);
    await road.untilLanded(intent);
    assert.deepEqual(
      (await amountsOf(intent)).map(([status]) => status),
      ["landed"],
    );
    const deposits = await road.db.root
      .selectFrom("deposit")
      .select("chain")
      .where("intent_id", "=", intent.id)
      .execute();
    assert.deepEqual(deposits, [{ chain: away.caip2 }], "what the bridge gave is no deposit");
  });

  test("D41 a payer who uses the bridge himself has paid on the settle chain", async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    const [, side] = road.sides;
    assert.ok(side);
    const { bridge } = side;
    const burn = encodeFunctionData({
      abi: parseAbi([
        "function depositForBurn(uint256 amount, uint32 domain, bytes32 recipient, address token, bytes32 caller, uint256 maxFee, uint32 threshold)",
      ]),
      args: [20n * USDC, 0, word(intent.inbox_address as Hex), away.usdc.address, word("0x"), 20_000n, 1_000],
    });
    const approve = encodeFunctionData({
      abi: parseAbi(["function approve(address spender, uint256 units)"]),
      args: [bridge.messenger, 20n * USDC],
    });
    const receipts = await away.send(payer, [
      { to: away.usdc.address, data: approve },
      { to: bridge.messenger, data: burn },
    ]);
    const response = await fetch(
      `${road.attestation.url}/v2/messages/1?transactionHash=${receipts.at(-1)?.transactionHash}`,
    );
    const { messages } = (await response.json()) as { messages: { message: Hex; attestation: Hex }[] };
    const [signed] = messages;
    await receive(home, signed?.message ?? "0x", signed?.attestation ?? "0x");
    await road.untilLanded(intent);
    const cost = 2_600;
    assert.deepEqual(await amountsOf(intent), [["landed", 20_000_000 - cost, 0, 99_987, 19_897_413]]);
    assert.equal((await road.intent(intent)).counted_units, 20n * USDC - BigInt(cost));
  });

  test("an inbox on the bridge's denylist is held with its reason, and goes once it is off the list", async () => {
    const [home, , other] = chains;
    const intent = await road.create(home);
    await other.send(issuer, [denylistCall(bridgeOf(other), intent.inbox_address as Hex)]);
    await road.pay(other, intent, 20n * USDC);
    const isHeld = async () => (await road.settlements(intent)).some(({ status }) => status === "held");
    for (let hour = 0; hour < 30 && !(await isHeld()); hour += 1) {
      road.advance(3_600_000);
      await road.tick();
    }
    const [settlement] = await road.settlements(intent);
    assert.match(settlement?.reason ?? "", /^bridge_refused .*denylist/i);
    assert.equal((await road.balances(other, intent)).inbox, 20n * USDC, "the money stays in its inbox");
    await other.send(issuer, [undenylistCall(bridgeOf(other), intent.inbox_address as Hex)]);
    road.advance(3_600_000);
    await road.untilLanded(intent);
  });

  test("a bridge that its issuer pauses delays burns on one chain and receipts on the other, with its reason, until it goes on", async () => {
    const [home, away] = chains;
    const setPaused = (chain: TestChain, isPaused: boolean) =>
      chain.send(issuer, [setPausedCall(bridgeOf(chain), isPaused)]);
    const intent = await road.create(home);
    await setPaused(away, true);
    await setPaused(home, true);
    await road.pay(away, intent, 20n * USDC);
    const hasReason = async () => /^bridge_refused .*paused/i.test((await road.settlements(intent))[0]?.reason ?? "");
    await road.until(hasReason);
    assert.equal((await road.balances(away, intent)).inbox, 20n * USDC);
    await setPaused(away, false);
    road.advance(3_600_000);
    await road.until(async () => /^receive_refused .*paused/i.test((await crossingOf(intent))?.reason ?? ""));
    await setPaused(home, false);
    road.advance(3_600_000);
    await road.untilLanded(intent);
    const [amounts] = await amountsOf(intent);
    assert.deepEqual(amounts?.slice(0, 2), ["landed", 20_000_000]);
  });

  const setLimit = (units: bigint) =>
    chains[1].send(issuer, [setBurnLimitCall(bridgeOf(chains[1]), chains[1].usdc.address, units)]);
  const grossOf = async (intent: IntentRow) =>
    (await amountsOf(intent)).map(([status, grossUnits]) => [status, grossUnits]);

  test("a balance above the bridge's limit for one burn crosses in pieces, each a settlement of its own", async (context) => {
    const [home, away] = chains;
    context.after(() => setLimit(10_000_000n * USDC));
    await setLimit(20n * USDC);
    const intent = await road.create(home, { priceUnits: 50_000_001, oneTime: true });
    const before = await road.balances(home, intent);
    await road.pay(away, intent, 50n * USDC + 1n);
    await road.until(async () => (await road.intent(intent)).status === "settled");
    await road.untilLanded(intent, 3);
    const amounts = await amountsOf(intent);
    assert.deepEqual(
      amounts.map(([status, grossUnits]) => [status, grossUnits]),
      [
        ["landed", 20_000_000],
        ["landed", 20_000_000],
        ["landed", 10_000_001],
      ],
    );
    const { payout, fee, inbox } = await road.balances(home, intent);
    const sumOf = (column: number) => BigInt(amounts.reduce((sum, row) => sum + Number(row[column]), 0));
    assert.deepEqual([payout - before.payout, fee - before.fee, inbox], [sumOf(4), sumOf(3), 0n]);
    assert.equal((await road.balances(away, intent)).inbox, 0n);
    const { counted_units: counted, settled_units: settled } = await road.intent(intent);
    assert.deepEqual([counted, settled], [50n * USDC + 1n, 50n * USDC + 1n]);
    const { rows } = await sql<{ account: string; units: bigint }>`
      select account, balance_units as units from ledger_balance where balance_units <> 0
        and (holder = ${`inbox:${intent.id}`} or account = 'bridge:cctp-v2')`.execute(road.db.root);
    assert.deepEqual(
      rows.filter(({ account }) => account.startsWith("inbox:")),
      [],
    );
    await assertAllChecks(road.db);
  });

  test("a balance above a hundred times the bridge's limit is held, and crosses once the limit allows it", async (context) => {
    const [home, away] = chains;
    context.after(() => setLimit(10_000_000n * USDC));
    await setLimit(USDC / 2n);
    const intent = await road.create(home);
    await road.pay(away, intent, 50n * USDC + 1n);
    const isHeld = async () => (await road.settlements(intent)).some(({ status }) => status === "held");
    for (let hour = 0; hour < 30 && !(await isHeld()); hour += 1) {
      road.advance(3_600_000);
      await road.tick();
    }
    assert.equal((await road.settlements(intent))[0]?.reason, "above_bridge_limit");
    assert.equal((await road.balances(away, intent)).inbox, 50n * USDC + 1n, "no part of it left");
    await setLimit(25n * USDC + 1n);
    road.advance(3_600_000);
    await road.untilLanded(intent, 2);
    assert.deepEqual(await grossOf(intent), [
      ["landed", 25_000_001],
      ["landed", 25_000_000],
    ]);
  });

  test("another process goes on with what the rows say, at any state", async () => {
    const [home, away] = chains;
    const intent = await road.create(home);
    await road.pay(away, intent, 20n * USDC);
    const isLanded = async () => (await road.settlements(intent)).some(({ status }) => status === "landed");
    await road.until(async () => {
      road.restart();
      return isLanded();
    });
    assert.equal((await road.settlements(intent)).length, 1);
  });

  const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, "0")}`;

  async function receive(chain: TestChain, message: Hex, attestation: Hex): Promise<void> {
    const data = encodeFunctionData({
      abi: parseAbi(["function receiveMessage(bytes message, bytes attestation)"]),
      args: [message, attestation],
    });
    const [receipt] = await chain.send(stranger, [{ to: bridgeOf(chain).transmitter, data }]);
    assert.equal(receipt?.status, "success");
  }
});
