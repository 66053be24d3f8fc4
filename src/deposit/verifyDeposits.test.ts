import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { databases, openTestDatabase } from "../../test/support/database.ts";
import { insertIntent, TEST_CHAIN, TEST_TOKEN } from "../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../test/support/movements.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type ChainDriver, type HeadTag, type Transfer } from "../chain/driver.ts";
import { Providers } from "../chain/providers.ts";
import type { AgreementPolicy, FinalityTier } from "../config/config.ts";
import type { Db } from "../db/database.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { createWake } from "../kernel/wake.ts";
import { verifyDeposits, type VerifyWorld } from "./verifyDeposits.ts";
import { countDeposits } from "./countDeposits.ts";
import type { DepositRow } from "./deposit.ts";
import { claimVerifications } from "./store.ts";
import { processMovements } from "./processMovements.ts";

// What the providers know is played, since the rules are about who says what; the tests of the whole road have real ones.

const USDC = 1_000_000n;
let txCount = 0;
const newChainTx = () => `0xa${(txCount += 1).toString(16).padStart(63, "0")}`;

/** One provider's chain: it knows the payments that it was told of, as they were recorded. */
class StubProvider implements Partial<ChainDriver> {
  readonly caip2: Caip2 = TEST_CHAIN;
  readonly name: string;
  readonly paid: (MovementInput & { inbox: string; counterparty: string })[] = [];
  heights: Record<HeadTag, bigint> = { latest: 1_000n, safe: 0n, finalized: 0n };
  isUnreachable = false;
  receiptHash: string | undefined;
  succeeds = true;
  headRequests = 0;

  constructor(name: string) {
    this.name = name;
  }

  identify = async () => {
    if (this.isUnreachable) throw new ProviderFailed("unreachable", "connection refused");
    return { caip2: this.caip2, genesisHash: "0x00" };
  };
  head = async (tag: HeadTag) => {
    this.headRequests += 1;
    if (this.isUnreachable) throw new ProviderFailed("unreachable", "connection refused");
    return { number: this.heights[tag], hash: "", parentHash: "", timestampS: 0 };
  };
  block = async (at: { number: bigint } | { hash: string }) =>
    "number" in at ? { number: at.number, hash: this.hashAt(at.number), parentHash: "", timestampS: 0 } : undefined;
  hashAt = (number: bigint) => `0x${number}${this.paid.find((each) => each.block === number)?.fork ?? ""}`;
  receiptPositions = async (chainTxs: readonly string[]) =>
    this.paid
      .filter((each) => chainTxs.includes(each.chainTx))
      .map(({ chainTx, block }) => ({
        chainTx,
        blockHash: this.receiptHash ?? this.hashAt(block),
        succeeded: this.succeeds,
        logIndexFirst: 0,
      }));
  transfers = async (scope: object): Promise<Transfer[]> =>
    this.paid
      .filter((each) => Reflect.get(scope, "blockHash") === this.hashAt(each.block))
      .map((each) => ({
        token: TEST_TOKEN,
        from: each.counterparty,
        to: each.inbox,
        amountText: String(each.amountUnits),
        chainTx: each.chainTx,
        logIndex: each.logIndex ?? 0,
        blockNumber: each.block,
        blockHash: this.hashAt(each.block),
      }));
}

for (const kind of databases) {
  describe(`agreement on deposits on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    type Play = { providers?: number; agreement?: AgreementPolicy | undefined; finality?: FinalityTier[] };

    async function play({ providers = 2, finality, ...rest }: Play = {}) {
      const agreement = "agreement" in rest ? rest.agreement : { providers: 2, abovePriceUnits: 0n };
      const clock = {
        ms: 0,
        now: () => new Date(1_800_000_000_000 + clock.ms),
        monotonicMs: () => clock.ms,
        sleep: async () => {},
      };
      const alarms: string[] = [];
      const log = pino(
        { level: "error" },
        { write: (line: string) => void alarms.push((JSON.parse(line) as { alarm: string }).alarm) },
      );
      const station = stationWorld(db, { agreement, ...(finality ? { finality } : {}) });
      const world: VerifyWorld = { ...station, clock, log, wake: createWake(clock) };
      const witnesses = Array.from({ length: providers }, (_, index) => new StubProvider(`${txCount}-${index}`));
      const drivers = witnesses as unknown as [ChainDriver, ...ChainDriver[]];
      const chain = {
        caip2: TEST_CHAIN,
        drivers,
        providers: new Providers(drivers, { clock, log: pino({ level: "silent" }) }),
      } as unknown as Chain;
      await setHead(db, TEST_CHAIN, { number: 1_000n });
      const intent = await insertIntent(db);
      const turn = async () => {
        await processMovements(world, TEST_CHAIN);
        await countDeposits(world, TEST_CHAIN);
        await verifyDeposits(world, chain);
      };
      return {
        clock,
        world,
        chain,
        alarms,
        witnesses,
        intent,
        turn,
        /** Turns while the given time passes, second by second at first. */
        pass: async (seconds: number) => {
          for (let passed = 0; passed < seconds; passed += passed < 8 ? 1 : 30) {
            clock.ms += passed < 8 ? 1_000 : 30_000;
            await turn();
          }
          await turn();
        },
        /** A payment that we have recorded, and that the given providers know too; `lie` is what they know instead of it. */
        pay: async (
          units: bigint,
          knownTo: readonly (StubProvider | undefined)[],
          lie: Partial<MovementInput> = {},
        ) => {
          const movement = {
            chainTx: newChainTx(),
            amountUnits: units,
            block: 900n,
            counterparty: `0x${"cc".repeat(20)}`,
            logIndex: 0,
          };
          await recordMovements(db, intent, [movement]);
          for (const witness of knownTo) witness?.paid.push({ ...movement, ...lie, inbox: intent.inbox_address });
          return movement;
        },
      };
    }
    const depositsOf = ({ id }: IntentRow): Promise<DepositRow[]> =>
      db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
    const statesOf = async (intent: IntentRow) =>
      (await depositsOf(intent)).map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`));
    const eventsOf = async ({ id }: IntentRow) => {
      const rows = await db.root
        .selectFrom("event")
        .select("type")
        .where("intent_id", "=", id)
        .orderBy("position")
        .execute();
      return rows.map((row) => row.type);
    };
    const countedOf = async ({ id }: IntentRow) =>
      (await db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow()).counted_units;

    test("what two providers confirm is counted without ever being held", async () => {
      const { witnesses, intent, turn, pay, alarms } = await play();
      await pay(25n * USDC, witnesses);
      await turn();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.ok((await depositsOf(intent))[0]?.agreed_at);
      assert.deepEqual(await eventsOf(intent), [
        "deposit.seen",
        "deposit.confirmed",
        "deposit.counted",
        "payment_intent.paid",
      ]);
      assert.deepEqual(alarms, []);
    });

    test("a lie of one provider while the other is away is held with an alarm, and dropped when honest ones deny it", async () => {
      const { witnesses, intent, pass, pay, alarms } = await play({ providers: 3 });
      const [liar, ...honest] = witnesses;
      for (const witness of honest) witness.isUnreachable = true;
      await pay(25n * USDC, [liar]);
      await pass(10);
      assert.deepEqual(await statesOf(intent), ["held provider_agreement_pending"]);
      assert.deepEqual(alarms, ["provider_agreement_pending"]);
      assert.equal(await countedOf(intent), 0n);
      for (const witness of honest) witness.isUnreachable = false;
      await pass(300);
      assert.deepEqual(await statesOf(intent), ["dropped reorg"]);
      assert.equal(await countedOf(intent), 0n);
      assert.deepEqual(
        await db.root.selectFrom("deposit_agreement").selectAll().where("state", "=", "asking").execute(),
        [],
      );
    });

    test("one against one is held, and counted by itself when the liar is healed", async () => {
      const { witnesses, intent, pass, pay, alarms } = await play();
      const [first, second] = witnesses;
      const movement = await pay(25n * USDC, [first]);
      await pass(120);
      assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      assert.deepEqual(alarms, ["provider_disagreement"]);
      second?.paid.push({ ...movement, inbox: intent.inbox_address });
      await pass(60);
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.equal(await countedOf(intent), 25n * USDC);
      assert.deepEqual(await eventsOf(intent), [
        "deposit.seen",
        "deposit.held",
        "deposit.confirmed",
        "deposit.counted",
        "payment_intent.paid",
      ]);
    });

    const lies: [string, Partial<MovementInput>][] = [
      ["an altered amount", { amountUnits: 1n }],
      ["another sender", { counterparty: `0x${"dd".repeat(20)}` }],
      ["another block at that height", { fork: "f" }],
      ["another place in its transaction", { logIndex: 3 }],
    ];
    for (const [what, lie] of lies) {
      test(`a provider that tells ${what} confirms nothing`, async () => {
        const { witnesses, intent, pass, pay } = await play();
        const movement = await pay(USDC, witnesses.slice(0, 1));
        witnesses[1]?.paid.push({ ...movement, ...lie, inbox: intent.inbox_address });
        await pass(10);
        assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      });
    }

    test("the receipt of a replaced block, or of a reverted transaction, confirms nothing", async () => {
      for (const lie of [{ receiptHash: "0x900old" }, { succeeds: false }]) {
        const { witnesses, intent, pass, pay } = await play();
        Object.assign(witnesses[1] ?? {}, lie);
        await pay(USDC, witnesses);
        await pass(10);
        assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      }
    });

    test("a question whose asker died is asked again by the next one", async () => {
      const { clock, witnesses, intent, pass, pay, world } = await play();
      await pay(USDC, witnesses);
      await processMovements(world, TEST_CHAIN);
      await countDeposits(world, TEST_CHAIN);
      const leaseUntil = new Date(clock.now().getTime() + 120_000);
      const claimed = await db.transaction((tx) =>
        claimVerifications(tx, { chain: TEST_CHAIN, at: clock.now(), leaseUntil, limit: 9 }),
      );
      assert.equal(claimed.length, 1);
      await pass(60);
      assert.deepEqual(await statesOf(intent), ["seen"], "somebody else seems to ask");
      await pass(120);
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });

    test("36 who was stopped for longer than it had the question to itself concludes nothing from what it heard before", async () => {
      const { world, chain, witnesses, intent, pass, pay } = await play();
      await pay(USDC, witnesses);
      await processMovements(world, TEST_CHAIN);
      await countDeposits(world, TEST_CHAIN);
      const [heard, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const askEach = async (...asked: Parameters<Providers["askEach"]>) => {
        const said = await chain.providers.askEach(...asked);
        heard.resolve();
        await goesOn.promise;
        return said;
      };
      const stopped = verifyDeposits(world, { ...chain, providers: { askEach } } as unknown as Chain);
      await heard.promise;
      witnesses[1]?.paid.pop();
      await pass(200);
      const before = await depositsOf(intent);
      assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      goesOn.resolve();
      await stopped;
      assert.deepEqual(await depositsOf(intent), before);
      assert.equal(await countedOf(intent), 0n);
    });

    test("two of three outvote the one that denies, and it is named", async () => {
      const { witnesses, intent, turn, pay, alarms } = await play({ providers: 3 });
      await pay(USDC, witnesses.slice(0, 2));
      await turn();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.deepEqual(alarms, ["provider_contradicted"]);
    });

    test("two names of one provider are one word", async () => {
      const { witnesses, intent, pass, pay } = await play();
      Object.assign(witnesses[1] ?? {}, { name: witnesses[0]?.name });
      await pay(USDC, witnesses);
      await pass(10);
      assert.deepEqual(await statesOf(intent), ["held provider_agreement_pending"]);
    });

    test("the finality that counts is the least that the agreeing providers tell", async () => {
      const finality: FinalityTier[] = [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }];
      const { witnesses, intent, turn, pass, pay } = await play({ finality });
      await setHead(db, TEST_CHAIN, { number: 1_000n, finalized: 999n });
      const [liar, honest] = witnesses;
      if (liar) liar.heights.finalized = 1_000_000n;
      if (honest) honest.heights.finalized = 899n;
      await pay(USDC, witnesses);
      await pass(20);
      assert.deepEqual(await statesOf(intent), ["seen"]);
      if (honest) honest.heights.finalized = 900n;
      await pass(60);
      await turn();
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });

    test("a node that lags is waited for, without an alarm", async () => {
      const { witnesses, intent, pass, pay, alarms } = await play();
      const [, second] = witnesses;
      if (second) second.heights.latest = 850n;
      await pay(USDC, witnesses);
      await pass(20);
      assert.deepEqual(await statesOf(intent), ["seen"]);
      if (second) second.heights.latest = 1_000n;
      await pass(60);
      assert.deepEqual([await statesOf(intent), alarms], [["counted"], []]);
    });

    test("below the limit one provider is believed, and splitting does not evade it", async () => {
      const { witnesses, intent, pass, pay } = await play({
        agreement: { providers: 2, abovePriceUnits: 100n * USDC },
      });
      const [first, second] = witnesses;
      if (second) second.isUnreachable = true;
      await pay(60n * USDC, [first]);
      await pass(10);
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.equal(first?.headRequests, 0, "nobody is asked below the limit");
      await pay(40n * USDC, [first]);
      await pass(10);
      await pay(1n, [first]);
      await pass(10);
      assert.deepEqual(await statesOf(intent), ["counted", "counted", "held provider_agreement_pending"]);
      assert.equal(await countedOf(intent), 100n * USDC);
    });

    test("where one provider is believed nothing is asked and everything counts as ever", async () => {
      const { witnesses, intent, turn, pay } = await play({ agreement: undefined });
      await pay(1_000_000n * USDC, []);
      await turn();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.deepEqual(
        witnesses.map((witness) => witness.headRequests),
        [0, 0],
      );
    });

    test("two processes that ask at once count once", async () => {
      const { witnesses, intent, turn, pay } = await play();
      await pay(USDC, witnesses);
      await Promise.all([turn(), turn(), turn()]);
      await turn();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.equal((await eventsOf(intent)).filter((type) => type === "deposit.counted").length, 1);
    });

    test("a deposit that a reorg moves is asked about anew", async () => {
      const { witnesses, intent, turn, pass, pay } = await play();
      const movement = await pay(USDC, witnesses);
      await turn();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      await recordMovements(db, intent, [{ ...movement, fork: "b" }]);
      await turn();
      assert.deepEqual(await statesOf(intent), ["seen"]);
      for (const witness of witnesses) for (const paid of witness.paid) paid.fork = "b";
      await pass(3);
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });
  });
}
