import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listEventTypesOf } from "../../../test/support/events.ts";
import { pino } from "pino";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { insertIntent, TEST_CHAIN, TEST_TOKEN } from "../../../test/support/intents.ts";
import { recordMovements, setHead, type MovementInput } from "../../../test/support/movements.ts";
import { stationWorld } from "../../../test/support/stationWorld.ts";
import type { Chain } from "../../chain/chain.ts";
import { createProof } from "../../chain/evm/proof.ts";
import { ProviderFailed, type ChainReader, type HeadTag, type Transfer } from "../../chain/reader.ts";
import { Providers } from "../../chain/providers.ts";
import type { AgreementPolicy, FinalityTier } from "../../config/config.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { createWake } from "../../kernel/wake.ts";
import { verifyDeposits, type VerifyWorld } from "./verifyDeposits.ts";
import { countDeposits } from "../countDeposits.ts";
import type { DepositRow } from "../deposit.ts";
import { claimVerifications, countHeldForAgreement } from "../agreement/verificationStore.ts";
import { processMovements } from "../processMovements.ts";

// Stub providers return chosen verdicts, because the rules depend on disagreement. The road tests use real providers.

const USDC = 1_000_000n;
let txCount = 0;
const newChainTx = () => `0xa${(txCount += 1).toString(16).padStart(63, "0")}`;

/** A provider that returns exactly the payments in `paid`. */
class StubProvider implements Partial<ChainReader> {
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
  proofs = async (chainTxs: readonly string[]) =>
    this.paid
      .filter((each) => chainTxs.includes(each.chainTx))
      .map(({ chainTx, block }) =>
        createProof({
          chainTx,
          blockNumber: block,
          blockHash: this.receiptHash ?? this.hashAt(block),
          succeeded: this.succeeds,
          logIndexFirst: 0,
          logCount: 1,
        }),
      );
  transfers = async (scope: object): Promise<Transfer[]> =>
    this.paid
      .filter((each) => Reflect.get(scope, "blockHash") === this.hashAt(each.block))
      .map((each) => ({
        token: TEST_TOKEN,
        from: each.counterparty,
        to: each.inbox,
        amountText: String(each.amountUnits),
        chainTx: each.chainTx,
        place: BigInt(each.place ?? 0),
        blockNumber: each.block,
        blockHash: this.hashAt(each.block),
      }));
}

for (const kind of thoroughDatabases) {
  describe(`agreement on deposits on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    type Setup = { providers?: number; agreement?: AgreementPolicy | undefined; finality?: FinalityTier[] };

    async function setUp({ providers = 2, finality, ...rest }: Setup = {}) {
      const agreement = "agreement" in rest ? rest.agreement : { providers: 2, abovePriceUnits: 0n };
      const clock = {
        ms: 0,
        steppedBackMs: 0,
        now: () => new Date(1_800_000_000_000 + clock.ms - clock.steppedBackMs),
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
      const stubs = Array.from({ length: providers }, (_, index) => new StubProvider(`${txCount}-${index}`));
      const readers = stubs as unknown as [ChainReader, ...ChainReader[]];
      const chain = {
        caip2: TEST_CHAIN,
        readers,
        providers: new Providers(readers, { clock, log: pino({ level: "silent" }) }),
      } as unknown as Chain;
      await setHead(db, TEST_CHAIN, { number: 1_000n });
      const intent = await insertIntent(db);
      const runOnce = async () => {
        await processMovements(world, TEST_CHAIN);
        await countDeposits(world, TEST_CHAIN);
        await verifyDeposits(world, chain);
      };
      return {
        clock,
        world,
        chain,
        alarms,
        stubs,
        intent,
        runOnce,
        /** Advances the clock by about `seconds` and runs after each step: 1 s at first, then 30 s. */
        advance: async (seconds: number) => {
          for (let passed = 0; passed < seconds; passed += passed < 8 ? 1 : 30) {
            clock.ms += passed < 8 ? 1_000 : 30_000;
            await runOnce();
          }
          await runOnce();
        },
        /** Records a payment and adds it to the given providers, with the changes in `altered`. */
        pay: async (
          units: bigint,
          knownTo: readonly (StubProvider | undefined)[],
          altered: Partial<MovementInput> = {},
        ) => {
          const movement = {
            chainTx: newChainTx(),
            amountUnits: units,
            block: 900n,
            counterparty: `0x${"cc".repeat(20)}`,
            place: 0,
          };
          await recordMovements(db, intent, [movement]);
          for (const stub of knownTo) stub?.paid.push({ ...movement, ...altered, inbox: intent.inbox_address });
          return movement;
        },
      };
    }
    const depositsOf = ({ id }: IntentRow): Promise<DepositRow[]> =>
      db.root.selectFrom("deposit").selectAll().where("intent_id", "=", id).orderBy("seq").execute();
    const statesOf = async (intent: IntentRow) =>
      (await depositsOf(intent)).map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`));
    const eventsOf = ({ id }: IntentRow) => listEventTypesOf(db, id);
    const countedOf = async ({ id }: IntentRow) =>
      (await db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow()).counted_units;

    test("a deposit that two providers confirm is counted and never held", async () => {
      const { stubs, intent, runOnce, pay, alarms } = await setUp();
      await pay(25n * USDC, stubs);
      await runOnce();
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

    test("an invented deposit is held with an alarm while other providers are down, and dropped once they deny it", async () => {
      const { stubs, chain, intent, advance, pay, alarms } = await setUp({ providers: 3 });
      const [faulty, ...honest] = stubs;
      for (const stub of honest) stub.isUnreachable = true;
      await pay(25n * USDC, [faulty]);
      await advance(10);
      assert.deepEqual(await statesOf(intent), ["held provider_agreement_pending"]);
      assert.deepEqual(alarms, ["provider_agreement_pending"]);
      assert.equal(await countedOf(intent), 0n);
      for (const stub of honest) stub.isUnreachable = false;
      await advance(300);
      assert.deepEqual([await statesOf(intent), await countedOf(intent)], [["dropped reorg"], 0n]);
      assert.notEqual(await chain.providers.run(async ({ name }) => name), faulty?.name, "it is asked last");
      assert.deepEqual(
        await db.root.selectFrom("deposit_agreement").selectAll().where("state", "=", "asking").execute(),
        [],
      );
    });

    test("held deposits are counted by chain and reason, and only up to a limit", async () => {
      const { stubs, advance, pay } = await setUp();
      for (let payments = 0; payments < 3; payments += 1) await pay(25n * USDC, stubs.slice(0, 1));
      await advance(120);
      assert.ok((await countHeldForAgreement(db, 2)).some(({ count }) => count === 2n));
    });

    test("one confirmation against one denial is held, and counted once the denial ends", async () => {
      const { stubs, intent, advance, pay, alarms } = await setUp();
      const [first, second] = stubs;
      const movement = await pay(25n * USDC, [first]);
      await advance(120);
      assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      assert.deepEqual(alarms, ["provider_disagreement"]);
      second?.paid.push({ ...movement, inbox: intent.inbox_address });
      await advance(60);
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

    const alterations: [string, Partial<MovementInput>][] = [
      ["an altered amount", { amountUnits: 1n }],
      ["another sender", { counterparty: `0x${"dd".repeat(20)}` }],
      ["another block at that height", { fork: "f" }],
      ["another place in its transaction", { place: 3 }],
    ];
    for (const [what, altered] of alterations) {
      test(`a provider that reports ${what} confirms nothing`, async () => {
        const { stubs, intent, advance, pay } = await setUp();
        const movement = await pay(USDC, stubs.slice(0, 1));
        stubs[1]?.paid.push({ ...movement, ...altered, inbox: intent.inbox_address });
        await advance(10);
        assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      });
    }

    test("the receipt of a replaced block, or of a reverted transaction, confirms nothing", async () => {
      for (const altered of [{ receiptHash: "0x900old" }, { succeeds: false }]) {
        const { stubs, intent, advance, pay } = await setUp();
        Object.assign(stubs[1] ?? {}, altered);
        await pay(USDC, stubs);
        await advance(10);
        assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      }
    });

    test("after a crash another process resumes the verification", async () => {
      const { clock, stubs, intent, advance, pay, world } = await setUp();
      await pay(USDC, stubs);
      await processMovements(world, TEST_CHAIN);
      await countDeposits(world, TEST_CHAIN);
      const leaseUntil = new Date(clock.now().getTime() + 120_000);
      const claim = { chain: TEST_CHAIN, at: clock.now(), leaseUntil, waitMsMax: 120_000, limit: 9 } as const;
      const claimed = await db.transaction((tx) => claimVerifications(tx, claim));
      assert.equal(claimed.length, 1);
      await advance(60);
      assert.deepEqual(await statesOf(intent), ["seen"], "the lease has not expired");
      await advance(120);
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });

    test("a clock that steps back an hour delays no verification", async () => {
      const { clock, stubs, intent, runOnce, advance, pay } = await setUp();
      Object.assign(stubs[1] ?? {}, { isUnreachable: true });
      await pay(USDC, stubs);
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["seen"], "the next attempt is due later");
      Object.assign(stubs[1] ?? {}, { isUnreachable: false });
      clock.steppedBackMs = 3_600_000;
      await advance(60);
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });

    test("a process that pauses beyond its lease does not apply its old votes", async () => {
      const { world, chain, stubs, intent, advance, pay } = await setUp();
      await pay(USDC, stubs);
      await processMovements(world, TEST_CHAIN);
      await countDeposits(world, TEST_CHAIN);
      const [replied, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const runAll = async (...parameters: Parameters<Providers["runAll"]>) => {
        const replies = await chain.providers.runAll(...parameters);
        replied.resolve();
        await resumed.promise;
        return replies;
      };
      const stopped = verifyDeposits(world, { ...chain, providers: { runAll } } as unknown as Chain);
      await replied.promise;
      stubs[1]?.paid.pop();
      await advance(200);
      const before = await depositsOf(intent);
      assert.deepEqual(await statesOf(intent), ["held provider_disagreement"]);
      resumed.resolve();
      await stopped;
      assert.deepEqual(await depositsOf(intent), before);
      assert.equal(await countedOf(intent), 0n);
    });

    test("two of three providers outvote a denial, with an alarm", async () => {
      const { stubs, intent, runOnce, pay, alarms } = await setUp({ providers: 3 });
      await pay(USDC, stubs.slice(0, 2));
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.deepEqual(alarms, ["provider_contradicted"]);
    });

    test("two connections with the same provider name count as one vote", async () => {
      const { stubs, intent, advance, pay } = await setUp();
      Object.assign(stubs[1] ?? {}, { name: stubs[0]?.name });
      await pay(USDC, stubs);
      await advance(10);
      assert.deepEqual(await statesOf(intent), ["held provider_agreement_pending"]);
    });

    test("every agreeing provider must report the deposit final", async () => {
      const finality: FinalityTier[] = [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }];
      const { stubs, intent, runOnce, advance, pay } = await setUp({ finality });
      await setHead(db, TEST_CHAIN, { number: 1_000n, finalized: 999n });
      const [faulty, honest] = stubs;
      if (faulty) faulty.heights.finalized = 1_000_000n;
      if (honest) honest.heights.finalized = 899n;
      await pay(USDC, stubs);
      await advance(20);
      assert.deepEqual(await statesOf(intent), ["seen"]);
      if (honest) honest.heights.finalized = 900n;
      await advance(60);
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });

    test("a deposit waits for a lagging provider without an alarm", async () => {
      const { stubs, intent, advance, pay, alarms } = await setUp();
      const [, second] = stubs;
      if (second) second.heights.latest = 850n;
      await pay(USDC, stubs);
      await advance(20);
      assert.deepEqual(await statesOf(intent), ["seen"]);
      if (second) second.heights.latest = 1_000n;
      await advance(60);
      assert.deepEqual([await statesOf(intent), alarms], [["counted"], []]);
    });

    test("below the limit one provider is enough, and splitting does not evade the limit", async () => {
      const { stubs, intent, advance, pay } = await setUp({
        agreement: { providers: 2, abovePriceUnits: 100n * USDC },
      });
      const [first, second] = stubs;
      if (second) second.isUnreachable = true;
      await pay(60n * USDC, [first]);
      await advance(10);
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.equal(first?.headRequests, 0, "no provider is asked below the limit");
      await pay(40n * USDC, [first]);
      await advance(10);
      await pay(1n, [first]);
      await advance(10);
      assert.deepEqual(await statesOf(intent), ["counted", "counted", "held provider_agreement_pending"]);
      assert.equal(await countedOf(intent), 100n * USDC);
    });

    test("without an agreement policy no provider is asked and every deposit counts", async () => {
      const { stubs, intent, runOnce, pay } = await setUp({ agreement: undefined });
      await pay(1_000_000n * USDC, []);
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.deepEqual(
        stubs.map((stub) => stub.headRequests),
        [0, 0],
      );
    });

    test("two processes that verify at once count a deposit once", async () => {
      const { stubs, intent, runOnce, pay } = await setUp();
      await pay(USDC, stubs);
      await Promise.all([runOnce(), runOnce(), runOnce()]);
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      assert.equal((await eventsOf(intent)).filter((type) => type === "deposit.counted").length, 1);
    });

    test("a deposit that a reorg moves is verified again", async () => {
      const { stubs, intent, runOnce, advance, pay } = await setUp();
      const movement = await pay(USDC, stubs);
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["counted"]);
      await recordMovements(db, intent, [{ ...movement, fork: "b" }]);
      await runOnce();
      assert.deepEqual(await statesOf(intent), ["seen"]);
      for (const stub of stubs) for (const paid of stub.paid) paid.fork = "b";
      await advance(3);
      assert.deepEqual(await statesOf(intent), ["counted"]);
    });
  });
}
