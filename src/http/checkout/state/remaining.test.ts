import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { bridgedChains } from "../../../../test/support/bridgedConfig.ts";
import { countMoney } from "../../../../test/support/countMoney.ts";
import { randomAddress, TEST_CHAIN } from "../../../../test/support/intents.ts";
import { recordMovements, setHead } from "../../../../test/support/movements.ts";
import { recordedChain } from "../../../../test/support/recordedProviders.ts";
import { stationWorld } from "../../../../test/support/stationWorld.ts";
import { SeededRandom } from "../../../../test/sim/seededRandom.ts";
import { buildCatalog } from "../../../catalog/catalog.ts";
import type { Db } from "../../../db/database.ts";
import { verifyDeposits, type VerifyWorld } from "../../../deposit/verify/verifyDeposits.ts";
import { verifyDust } from "../../../deposit/verify/verifyDust.ts";
import { depositTotalsCheck } from "../../../deposit/checks.ts";
import { processMovements } from "../../../deposit/processMovements.ts";
import { archiveIntent } from "../../../intent/archiveIntent.ts";
import { createIntent } from "../../../intent/createIntent.ts";
import { intentRecord } from "../../../intent/intentRecord.ts";
import { findIntentById, type IntentRow } from "../../../intent/store.ts";
import type { Caip2 } from "../../../kernel/caip.ts";
import { runChecks } from "../../../ledger/check.ts";
import { createAccount } from "../../../merchant/createAccount.ts";
import type { World } from "../../../world.ts";
import { readState } from "./readState.ts";

// Every row that the page reads is one that the stations wrote: each test moves money and lets them run.

const AWAY: Caip2 = "eip155:31338";
const CHAINS = [TEST_CHAIN, AWAY] as const;
/** 18 decimals, on the payout's chain. */
const DUSD = "0x00000000000000000000000000000000000c0d18";
const OTHER_TOKEN = "0x00000000000000000000000000000000000bad00";
const UNIT = 1_000_000n;
const MINIMUM = UNIT / 2n;
/** Of deposits on one provider's word, in price units. */
const ABOVE = 30n * UNIT;
const SEEDS_FIRST = Number(process.env["TRIBUTARY_ASKED_FIRST"] ?? 1);
const SEEDS = Number(process.env["TRIBUTARY_ASKED_SEEDS"] ?? 1);
const INTENTS_PER_SEED = 25;

let db: Db;
let world: VerifyWorld & Pick<World, "db">;
let ms = 0;
let heights: Map<Caip2, bigint>;
let account: Awaited<ReturnType<typeof createAccount>>;
let exact: typeof account;
let providers: Map<Caip2, ReturnType<typeof recordedChain>>;

describe("what a payer is asked for", () => {
  before(async () => {
    db = await openTestDatabase(thoroughDatabase);
    const clock = {
      now: () => new Date(1_900_000_000_000 + ms),
      monotonicMs: () => ms,
      sleep: async () => {},
    };
    const base = stationWorld(db);
    const agreement = { providers: 2, abovePriceUnits: ABOVE };
    const [home, away] = bridgedChains(MINIMUM).map((chain) => ({ ...chain, agreement }));
    assert.ok(home && away);
    const dusd = { symbol: "DUSD", slug: "dusd", address: DUSD, decimals: 18, minimumUnits: 10n ** 17n };
    const chains = [{ ...home, tokens: [...home.tokens, { ...dusd, isOrigin: true, isRail: true }] }, away];
    const config = { ...base.config, chains };
    world = { ...base, clock, config, catalog: buildCatalog(config) };
    heights = new Map(CHAINS.map((chain) => [chain, 100n]));
    for (const chain of CHAINS) await setHead(db, chain, { number: 100n });
    providers = new Map(CHAINS.map((caip2) => [caip2, recordedChain(db, { caip2, clock })]));
    account = await openAccount(50);
    exact = await openAccount(0);
  });
  after(() => db.close());

  test("D47 a stranger's small transfer is taken off once, and the payer of the rest has paid", async () => {
    const intent = await create(exact, { priceUnits: 25_000_000 });
    await transfer(intent, { amountUnits: 9_000n });
    assert.equal((await stateOf(intent)).remainingUnits, "25000000", "not in a final block yet");
    await mine(3);
    const asked = await stateOf(intent);
    assert.deepEqual([asked.stage, asked.remaining, asked.arrived], ["held", "24.991", "0.009"]);
    assert.equal((await recordOf(intent)).amounts.remainingUnits, "24991000");
    await transfer(intent, { amountUnits: 24_991_000n });
    assert.deepEqual(
      [(await stateOf(intent)).remaining, (await recordOf(intent)).amounts.shortfallUnits],
      ["0", "25000000"],
    );
    await mine(3);
    const paid = await stateOf(intent);
    assert.deepEqual([paid.stage, paid.excess, (await recordOf(intent)).status], ["paid", "0", "settled"]);
  });

  test("D47 nothing is left to pay while deposits that reach the price are held for agreement", async () => {
    const intent = await create(exact, { priceUnits: 50_000_000 });
    const chainTx = await transfer(intent, { amountUnits: 50n * UNIT });
    providers.get(TEST_CHAIN)?.deny(chainTx);
    await mine(3);
    await verify(120);
    const denied = await stateOf(intent);
    assert.deepEqual([denied.stage, denied.held?.reason, denied.remaining], ["held", "providers_disagree", "0"]);
    const { amounts } = await recordOf(intent);
    assert.deepEqual([amounts.receivedUnits, amounts.remainingUnits, amounts.shortfallUnits], ["0", "0", "50000000"]);
    providers.get(TEST_CHAIN)?.admitAll();
    await verify(300);
    assert.deepEqual([(await stateOf(intent)).stage, (await recordOf(intent)).status], ["paid", "settled"]);
  });

  test("D47 a deposit that too few providers have confirmed is on its way, and not asked for again", async () => {
    const intent = await create(exact, { priceUnits: 50_000_000 });
    providers.get(TEST_CHAIN)?.setAway(true);
    await transfer(intent, { amountUnits: 50n * UNIT });
    await mine(3);
    await verify(120);
    const pending = await stateOf(intent);
    assert.deepEqual([pending.stage, pending.remaining, pending.deposits[0]?.status], ["seen", "0", "confirmed"]);
    assert.equal((await recordOf(intent)).amounts.receivedUnits, "0", "it is held");
    providers.get(TEST_CHAIN)?.setAway(false);
    await verify(300);
    assert.equal((await stateOf(intent)).stage, "paid");
  });

  test("D47 money for a cancelled order is late, even all of it", async () => {
    const intent = await create(exact, { priceUnits: 25_000_000 });
    await archive(intent);
    assert.equal((await stateOf(intent)).stage, "archived");
    await transfer(intent, { amountUnits: 25n * UNIT });
    await mine(3);
    const late = await stateOf(intent);
    assert.deepEqual([late.stage, late.counted, late.paidAt, late.deposits[0]?.isLate], ["late", "25", null, true]);
    assert.equal((await recordOf(intent)).paymentStatus, "paid");
  });

  test("D47 small transfers that count after the cancellation are late too", async () => {
    const intent = await create(exact, { priceUnits: 2_000_000 });
    await archive(intent);
    for (let index = 0; index < 5; index += 1) await transfer(intent, { amountUnits: 400_000n });
    await mine(3);
    const late = await stateOf(intent);
    assert.deepEqual([late.stage, late.counted], ["late", "2"]);
  });

  test("D47 a part that came before the cancellation is shown, and what is paid stays paid", async () => {
    const part = await create(exact, { priceUnits: 25_000_000 });
    await transfer(part, { amountUnits: 10n * UNIT });
    await mine(3);
    await archive(part);
    const closed = await stateOf(part);
    assert.deepEqual([closed.stage, closed.arrived, closed.deposits[0]?.isLate], ["late", "10", false]);
    await transfer(part, { amountUnits: 15n * UNIT });
    await mine(3);
    assert.equal((await stateOf(part)).stage, "late");

    const paid = await create(exact, { priceUnits: 25_000_000 });
    await transfer(paid, { amountUnits: 25n * UNIT });
    await mine(3);
    await transfer(paid, { amountUnits: 3n * UNIT });
    await mine(3);
    const again = await stateOf(paid);
    assert.deepEqual([again.stage, again.excess], ["overpaid", "3"]);
  });

  test("D47 an open-ended intent is not seen for one smallest unit", async () => {
    const intent = await create(exact, {});
    await transfer(intent, { amountUnits: 1n });
    assert.notEqual((await stateOf(intent)).stage, "seen");
    await mine(3);
    const dust = await stateOf(intent);
    assert.notEqual(dust.stage, "seen");
    assert.equal(dust.remainingUnits, null);
    await transfer(intent, { amountUnits: UNIT });
    assert.equal((await stateOf(intent)).stage, "many");
    await mine(3);
    assert.equal((await stateOf(intent)).stage, "paid");
  });

  test("D57 the rest is rounded up to a millionth in words, and exact in units", async () => {
    const intent = await create(exact, { priceUnits: 25_000_000, currency: "DUSD" });
    await transfer(intent, { token: DUSD, amountUnits: 25n * 10n ** 18n - 1n });
    await mine(3);
    const asked = await stateOf(intent);
    assert.deepEqual([asked.remaining, asked.remainingUnits], ["0.000001", "1"]);
    await transfer(intent, { token: DUSD, amountUnits: 10n ** 12n });
    await mine(3);
    const paid = await stateOf(intent);
    assert.deepEqual([paid.stage, paid.excess], ["paid", "0"], "a payer who typed the amount in words has paid");
  });

  test("a wrong coin on a network that the payment takes is a wrong coin, and no wrong network", async () => {
    const intent = await create(exact, { priceUnits: 25_000_000 });
    await advance(1n);
    await record(intent, { chain: AWAY, amountUnits: UNIT, token: OTHER_TOKEN });
    await processMovements(world, AWAY);
    const { held } = await stateOf(intent);
    assert.deepEqual([held?.reason, held?.rescue], ["wrong_token", "later"]);
  });

  for (let seed = SEEDS_FIRST; seed < SEEDS_FIRST + SEEDS; seed += 1) {
    test(`D47 whoever pays what the page asks for has paid, and is never asked for more than is missing (${seed})`, async () => {
      const random = new SeededRandom(`asked/${seed}`);
      const walkers = await Promise.all(Array.from({ length: INTENTS_PER_SEED }, () => openWalker(random)));
      for (let round = 0; round < 6; round += 1) {
        for (const walker of walkers) await step(walker, random);
        if (random.number() < 0.5) await runStations();
        else await mine(1 + Math.floor(random.number() * 3));
        if (random.number() < 0.5) await verify(30);
      }
      await mine(1);
      for (const { intent, arrived } of walkers) await pay(intent, arrived, random);
      for (const { admitAll } of providers.values()) admitAll();
      // Balances are asked for as far below the head as a provider may be.
      await mine(100);
      await verify(400);
      await mine(1);
      for (const { intent, log } of walkers) {
        const { stage } = await stateOf(intent);
        assert.ok(["paid", "overpaid"].includes(stage), `${intent.id} is ${stage}: ${log.join(", ")}`);
        assert.equal((await recordOf(intent)).status, "settled");
      }
      assert.deepEqual(await runChecks(db, [depositTotalsCheck]), []);
    });
  }
});

type Walker = { intent: IntentRow; arrived: Map<string, bigint>; log: string[]; last: Sent | undefined };
type Sent = { chain: Caip2; chainTx: string; place: number; block: bigint; amountUnits: bigint; token: string };

async function openWalker(random: SeededRandom): Promise<Walker> {
  const isEighteen = random.number() < 0.3;
  const priceUnits = Math.floor(1 + random.number() ** 3 * 60_000_000);
  const owner = random.number() < 0.5 ? account : exact;
  const intent = await create(owner, { priceUnits, ...(isEighteen ? { currency: "DUSD" } : {}) });
  return { intent, arrived: new Map(), log: [String(priceUnits)], last: undefined };
}

/** One thing that happens to a payment before its payer looks at the page. */
async function step(walker: Walker, random: SeededRandom): Promise<void> {
  const { intent, log, arrived } = walker;
  const price = intent.price_token_units ?? 0n;
  const share = BigInt(Math.floor(random.number() * 1_000));
  const what = random.number();
  const chain = random.number() < 0.7 || intent.payout_token === DUSD ? TEST_CHAIN : AWAY;
  const send = async (amountUnits: bigint, token = intent.payout_token) => {
    if (amountUnits <= 0n) return;
    log.push(`${amountUnits} ${token === intent.payout_token ? "" : "of another token "}on ${chain}`);
    const chainTx = await record(intent, { chain, amountUnits, token });
    walker.last = { chain, chainTx, place: txCount, block: heights.get(chain) ?? 0n, amountUnits, token };
    if (token === intent.payout_token) arrived.set(chainTx, amountUnits);
    if (random.number() < 0.2) providers.get(chain)?.deny(chainTx);
  };
  if (what < 0.3) return send((intent.minimum_units * share) / 1_000n);
  if (what < 0.45) return send((price * share) / 2_000n);
  if (what < 0.5) return send(1n);
  if (what < 0.55) return send(price - 1n);
  if (what < 0.65) return send(UNIT, OTHER_TOKEN);
  if (what < 0.75 && walker.last !== undefined && isRecent(walker.last)) {
    const { chain: where, ...sent } = walker.last;
    log.push(`${sent.chainTx} taken back`);
    await recordMovements(db, intent, [{ chain: where, ...sent, orphaned: true }]);
    arrived.delete(sent.chainTx);
    walker.last = undefined;
  }
}

/** Whether a reorganisation may still take a block back: it has one confirmation. */
function isRecent({ chain, block }: Sent): boolean {
  return heights.get(chain) === block;
}

async function pay(intent: IntentRow, arrived: ReadonlyMap<string, bigint>, random: SeededRandom): Promise<void> {
  const asked = await stateOf(intent);
  const units = BigInt(asked.remainingUnits ?? 0);
  const missing = (intent.price_token_units ?? 0n) - [...arrived.values()].reduce((sum, each) => sum + each, 0n);
  const { amounts } = await recordOf(intent);
  assert.equal(amounts.remainingUnits, asked.remainingUnits);
  const unsummed =
    BigInt(amounts.priceUnits ?? 0) - missing - BigInt(amounts.receivedUnits) - (await heldUnits(intent));
  assert.ok(
    units <= (missing > 0n ? missing : 0n) + unsummed,
    `${intent.id} asks for ${units}, and ${missing} is missing`,
  );
  if (units === 0n) return;
  const chain = random.number() < 0.6 || intent.payout_token === DUSD ? TEST_CHAIN : AWAY;
  await record(intent, { chain, amountUnits: units, token: intent.payout_token });
}

async function heldUnits({ id }: IntentRow): Promise<bigint> {
  return (await findIntentById(db, id))?.agreement_units ?? 0n;
}

async function openAccount(underpayToleranceBps: number): Promise<typeof account> {
  const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
  return createAccount(world, { name: "Asked", payout, underpayToleranceBps });
}

async function create(owner: typeof account, input: { priceUnits?: number; currency?: string }): Promise<IntentRow> {
  const { priceUnits, currency } = input;
  const destination =
    currency === undefined
      ? {}
      : { payoutWallet: randomAddress(), payoutChainReference: "31337", payoutTokenAddress: DUSD };
  const price = priceUnits === undefined ? {} : { priceUnits, oneTime: true };
  return (await createIntent(db.root, world, { account: owner, input: { ...price, ...destination } })).intent;
}

async function archive({ id }: IntentRow): Promise<void> {
  await db.transaction((tx) => archiveIntent(tx, world, id));
}

let txCount = 0;

async function record(
  intent: IntentRow,
  { chain = TEST_CHAIN, ...moved }: { chain?: Caip2; amountUnits: bigint; token?: string },
): Promise<string> {
  const chainTx = `0x${(txCount += 1).toString(16).padStart(64, "0")}`;
  await recordMovements(db, intent, [{ chain, chainTx, block: heights.get(chain) ?? 0n, place: txCount, ...moved }]);
  return chainTx;
}

/** Records a transfer in a new block, which the station sees at once. */
async function transfer(intent: IntentRow, moved: { amountUnits: bigint; token?: string }): Promise<string> {
  await advance(1n);
  const chainTx = await record(intent, moved);
  await processMovements(world, TEST_CHAIN);
  return chainTx;
}

async function advance(blocks: bigint): Promise<void> {
  for (const [chain, number] of heights) {
    heights.set(chain, number + blocks);
    await setHead(db, chain, { number: number + blocks });
  }
}

async function mine(blocks: number): Promise<void> {
  await advance(BigInt(blocks));
  await runStations();
}

async function runStations(): Promise<void> {
  for (const chain of CHAINS) await processMovements(world, chain);
  for (const chain of CHAINS) await countMoney(world, chain);
}

/** Lets the providers be asked for so many seconds. */
async function verify(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 30) {
    ms += 30_000;
    for (const { chain } of providers.values()) {
      await verifyDeposits(world, chain);
      await verifyDust(world, chain);
    }
    await runStations();
  }
}

async function stateOf({ id }: IntentRow) {
  const state = await readState(world, id);
  assert.ok(state);
  return state;
}

async function recordOf({ id }: IntentRow) {
  const row = await findIntentById(db, id);
  assert.ok(row);
  return intentRecord(row, world.config);
}
