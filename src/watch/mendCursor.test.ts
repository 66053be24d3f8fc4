import { deepEqual, equal, ok } from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { pino } from "pino";
import { openTestDatabase } from "../../test/support/database.ts";
import { TEST_CHAIN } from "../../test/support/intents.ts";
import { stationWorld } from "../../test/support/stationWorld.ts";
import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver, type HeadTag } from "../chain/driver.ts";
import { Providers } from "../chain/providers.ts";
import type { Db } from "../db/database.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { createWake } from "../kernel/wake.ts";
import { followHeads } from "./followHeads.ts";
import type { WatchWorld } from "./record.ts";
import { watchChain } from "./watchChain.ts";

// Chains of headers alone, so that whole forks can be told by anybody; who holds which transfers is another test's matter.

/** A provider whose chain leaves the true one above `forkAt`. */
class Teller implements Partial<ChainDriver> {
  readonly caip2: Caip2 = TEST_CHAIN;
  readonly name: string;
  head_ = 100n;
  forkAt: bigint | undefined;
  isAway = false;
  isFrozen = false;

  constructor(name: string) {
    this.name = name;
  }

  hashAt(number: bigint): string {
    return this.forkAt !== undefined && number > this.forkAt ? `0xfalse${number}` : `0xtrue${number}`;
  }
  ref = (number: bigint): BlockRef => ({
    number,
    hash: this.hashAt(number),
    parentHash: this.hashAt(number - 1n),
    timestampS: 0,
  });
  identify = async () => {
    if (this.isAway) throw new ProviderFailed("unreachable", "connection refused");
    return { caip2: this.caip2, genesisHash: "0x00" };
  };
  head = async (tag: HeadTag) => {
    if (this.isAway) throw new ProviderFailed("unreachable", "connection refused");
    if (tag !== "latest") throw new ProviderFailed("unknown_block", "no such tag");
    return this.ref(this.head_);
  };
  block = async (at: { number: bigint } | { hash: string }) => {
    if (this.isAway) throw new ProviderFailed("unreachable", "connection refused");
    const number = "number" in at ? at.number : BigInt(at.hash.replace(/^0x\D+/, ""));
    const block = number <= this.head_ ? this.ref(number) : undefined;
    return "hash" in at && block?.hash !== at.hash ? undefined : block;
  };
  transfers = async () => [];
  positions = async () => [];
}

describe("providers that tell of another chain", () => {
  let db: Db;
  beforeEach(async () => {
    db = await openTestDatabase("pglite");
  });
  afterEach(() => db.close());

  async function play(count: number) {
    const clock = {
      ms: 0,
      now: () => new Date(1_800_000_000_000 + clock.ms),
      monotonicMs: () => clock.ms,
      sleep: async () => undefined,
    };
    const alarms: (string | undefined)[] = [];
    const warnings: string[] = [];
    const note = (line: string) => {
      const { alarm, msg } = JSON.parse(line) as { alarm?: string; msg: string };
      alarms.push(alarm);
      warnings.push(msg);
    };
    const log = pino({ level: "warn" }, { write: note });
    const { catalog } = stationWorld(db);
    const world: WatchWorld = { db, clock, wake: createWake(clock), catalog, log };
    const tellers = ["first", "second", "third"].slice(0, count).map((name) => new Teller(name));
    const drivers = tellers as unknown as [ChainDriver, ...ChainDriver[]];
    const providers = new Providers(drivers, { clock, log: pino({ level: "silent" }) });
    const chain = { caip2: TEST_CHAIN, drivers, providers } as unknown as Chain;
    await watchChain(world, chain);
    return {
      tellers: tellers as [Teller, Teller, Teller],
      alarms,
      warnings,
      /** What becomes of the next head of the first one, when it is told of before anybody looks. */
      push: () => followHeads(world, chain, [(tellers[0] as Teller).ref(((tellers[0] as Teller).head_ += 1n))]),
      /** Each second a block on every chain, and a look. */
      pass: async (seconds: number) => {
        for (let second = 0; second < seconds; second += 1) {
          clock.ms += 1_000;
          for (const teller of tellers) if (!teller.isFrozen) teller.head_ += 1n;
          while ((await watchChain(world, chain)).isBehind);
        }
      },
      cursor: () => db.read.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow(),
    };
  }

  test("a fork of the preferred one is left again when two others object, and the chain goes on with them", async () => {
    const { tellers, pass, cursor, alarms } = await play(3);
    const [liar, second, third] = tellers;
    await pass(5);
    second.isAway = true;
    third.isAway = true;
    liar.forkAt = liar.head_;
    await pass(20);
    equal((await cursor()).hash, `0xfalse${liar.head_}`, "alone he is believed");
    second.isAway = false;
    third.isAway = false;
    await pass(110);
    equal((await cursor()).hash, `0xtrue${second.head_}`);
    deepEqual(alarms.filter((alarm) => alarm === "chain_taken_back").length, 1);
    const standing = await db.read.selectFrom("block").select("hash").where("orphaned_at", "is", null).execute();
    ok(standing.every(({ hash }) => hash.startsWith("0xtrue")));
  });

  test("a head that is far ahead hides the true chain only until the others are heard", async () => {
    const { tellers, pass, cursor } = await play(3);
    const [liar, second, third] = tellers;
    second.isAway = true;
    third.isAway = true;
    liar.forkAt = liar.head_;
    liar.head_ += 1_000_000n;
    await pass(20);
    ok((await cursor()).number > 10_000n);
    second.isAway = false;
    third.isAway = false;
    await pass(110);
    equal((await cursor()).hash, `0xtrue${second.head_}`);
  });

  test("a long reorg of one that the other does not know is not followed, and what it has goes on", async () => {
    const { tellers, pass, cursor, alarms } = await play(2);
    const [liar, honest] = tellers;
    await pass(20);
    liar.forkAt = liar.head_ - 10n;
    await pass(20);
    equal((await cursor()).hash, `0xtrue${honest.head_}`);
    ok(alarms.includes("reorg_refused"));
  });

  test("a long reorg that all of them tell is followed at once", async () => {
    const { tellers, pass, cursor } = await play(3);
    await pass(20);
    const forkAt = tellers[0].head_ - 10n;
    for (const teller of tellers) teller.forkAt = forkAt;
    await pass(1);
    equal((await cursor()).hash, `0xfalse${tellers[0].head_}`);
  });

  test("one against one is an alarm, and is over when the liar is healed", async () => {
    const { tellers, pass, cursor, alarms } = await play(2);
    const [liar, honest] = tellers;
    await pass(5);
    honest.isAway = true;
    liar.forkAt = liar.head_;
    await pass(20);
    honest.isAway = false;
    await pass(110);
    equal((await cursor()).hash, `0xfalse${liar.head_}`, "who lies cannot be known");
    ok(alarms.includes("providers_differ"));
    liar.forkAt = undefined;
    await pass(60);
    equal((await cursor()).hash, `0xtrue${honest.head_}`);
  });

  test("one that lags far behind is waited for, and nothing is taken back", async () => {
    const { tellers, pass, cursor } = await play(2);
    const [, late] = tellers;
    late.head_ -= 60n;
    await pass(100);
    equal((await cursor()).hash, `0xtrue${tellers[0].head_}`);
    equal((await db.read.selectFrom("block").select("hash").where("orphaned_at", "is not", null).execute()).length, 0);
  });

  test("one that lags far behind holds up what is pushed, which is told once, until it is known to stand still", async () => {
    const { tellers, pass, push, warnings } = await play(2);
    const [, late] = tellers;
    const told = (what: RegExp) => warnings.filter((warning) => what.test(warning)).length;
    await pass(1);
    equal(await push(), "recorded");
    late.isFrozen = true;
    await pass(50);
    equal(await push(), "unfit");
    equal(told(/pushed heads are not followed/), 1);
    equal(told(/followed again/), 0);
    await pass(20);
    equal(await push(), "recorded");
    late.head_ += 1n;
    await pass(6);
    equal(await push(), "unfit", "it moves, and may know something else");
    await pass(40);
    equal(await push(), "recorded", "it moves no more");
    late.isFrozen = false;
    late.head_ = tellers[0].head_;
    await pass(6);
    equal(await push(), "recorded");
    equal(told(/pushed heads are not followed/), 2);
    equal(told(/followed again/), 2);
  });

  test("a single provider that lies and is replaced by an honest one does not stop the chain", async () => {
    const { tellers, pass, cursor } = await play(1);
    const [only] = tellers;
    await pass(5);
    only.forkAt = only.head_;
    only.head_ += 40n;
    await pass(3);
    only.forkAt = undefined;
    only.head_ -= 41n;
    await pass(45);
    equal((await cursor()).hash, `0xtrue${only.head_}`);
  });
});
