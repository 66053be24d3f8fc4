import { deepEqual, equal, ok } from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { pino } from "pino";
import { openTestDatabase } from "../../../test/support/database.ts";
import { TEST_CHAIN } from "../../../test/support/intents.ts";
import { stationWorld } from "../../../test/support/stationWorld.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainReader, type HeadTag } from "../../chain/reader.ts";
import { Providers } from "../../chain/providers.ts";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { createWake } from "../../kernel/wake.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";
import { followHeads } from "./followHeads.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { watchChain } from "./watchChain.ts";

// Chains of headers without transfers, so that any provider can serve whole forks; other tests cover transfers.

/** A provider whose chain leaves the true one above `forkAt`. */
class ForkingProvider implements Partial<ChainReader> {
  readonly caip2: Caip2 = TEST_CHAIN;
  readonly name: string;
  headNumber = 100n;
  forkAt: bigint | undefined;
  isUnreachable = false;
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
    if (this.isUnreachable) throw new ProviderFailed("unreachable", "connection refused");
    return { caip2: this.caip2, genesisHash: "0x00" };
  };
  head = async (tag: HeadTag) => {
    if (this.isUnreachable) throw new ProviderFailed("unreachable", "connection refused");
    if (tag !== "latest") throw new ProviderFailed("unknown_block", "no such tag");
    return this.ref(this.headNumber);
  };
  block = async (at: { number: bigint } | { hash: string }) => {
    if (this.isUnreachable) throw new ProviderFailed("unreachable", "connection refused");
    const number = "number" in at ? at.number : BigInt(at.hash.replace(/^0x\D+/, ""));
    const block = number <= this.headNumber ? this.ref(number) : undefined;
    return "hash" in at && block?.hash !== at.hash ? undefined : block;
  };
  transfers = async () => [];
  proofs = async () => [];
}

describe("providers with another chain", () => {
  let db: Db;
  beforeEach(async () => {
    db = await openTestDatabase("postgres");
  });
  afterEach(() => db.close());

  async function setUp(count: number) {
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
    const world: WatchWorld = { db, clock, wake: createWake(clock), memory: new ProcessMemory(), catalog, log };
    const forkingProviders = ["first", "second", "third"].slice(0, count).map((name) => new ForkingProvider(name));
    const readers = forkingProviders as unknown as [ChainReader, ...ChainReader[]];
    const providers = new Providers(readers, { clock, log: pino({ level: "silent" }) });
    const chain = { caip2: TEST_CHAIN, readers, providers } as unknown as Chain;
    await watchChain(world, chain);
    return {
      tellers: forkingProviders as [ForkingProvider, ForkingProvider, ForkingProvider],
      alarms,
      warnings,
      /** Pushes the first provider's next head before the next poll, and returns the outcome. */
      push: () =>
        followHeads(world, chain, [
          (forkingProviders[0] as ForkingProvider).ref(((forkingProviders[0] as ForkingProvider).headNumber += 1n)),
        ]),
      /** Each second mines a block on every chain and polls. */
      advanceSeconds: async (seconds: number) => {
        for (let second = 0; second < seconds; second += 1) {
          clock.ms += 1_000;
          for (const teller of forkingProviders) if (!teller.isFrozen) teller.headNumber += 1n;
          while ((await watchChain(world, chain)).isBehind);
        }
      },
      cursor: () => db.root.selectFrom("chain_cursor").selectAll().executeTakeFirstOrThrow(),
    };
  }

  test("the cursor leaves the preferred provider's fork when two others object, and follows them", async () => {
    const { tellers, advanceSeconds, cursor, alarms } = await setUp(3);
    const [liar, second, third] = tellers;
    await advanceSeconds(5);
    second.isUnreachable = true;
    third.isUnreachable = true;
    liar.forkAt = liar.headNumber;
    await advanceSeconds(20);
    equal((await cursor()).hash, `0xfalse${liar.headNumber}`, "alone he is believed");
    second.isUnreachable = false;
    third.isUnreachable = false;
    await advanceSeconds(110);
    equal((await cursor()).hash, `0xtrue${second.headNumber}`);
    deepEqual(alarms.filter((alarm) => alarm === "chain_taken_back").length, 1);
    const standing = await db.root.selectFrom("block").select("hash").where("orphaned_at", "is", null).execute();
    ok(standing.every(({ hash }) => hash.startsWith("0xtrue")));
  });

  test("a false head far ahead hides the true chain only until the others answer", async () => {
    const { tellers, advanceSeconds, cursor } = await setUp(3);
    const [liar, second, third] = tellers;
    second.isUnreachable = true;
    third.isUnreachable = true;
    liar.forkAt = liar.headNumber;
    liar.headNumber += 1_000_000n;
    await advanceSeconds(20);
    ok((await cursor()).number > 10_000n);
    second.isUnreachable = false;
    third.isUnreachable = false;
    await advanceSeconds(110);
    equal((await cursor()).hash, `0xtrue${second.headNumber}`);
  });

  test("a long reorg that only one provider has is refused, and the recorded chain continues", async () => {
    const { tellers, advanceSeconds, cursor, alarms } = await setUp(2);
    const [liar, honest] = tellers;
    await advanceSeconds(20);
    liar.forkAt = liar.headNumber - 10n;
    await advanceSeconds(20);
    equal((await cursor()).hash, `0xtrue${honest.headNumber}`);
    ok(alarms.includes("reorg_refused"));
  });

  test("a long reorg that all providers have is followed at once", async () => {
    const { tellers, advanceSeconds, cursor } = await setUp(3);
    await advanceSeconds(20);
    const forkAt = tellers[0].headNumber - 10n;
    for (const teller of tellers) teller.forkAt = forkAt;
    await advanceSeconds(1);
    equal((await cursor()).hash, `0xfalse${tellers[0].headNumber}`);
  });

  test("one against one logs an alarm, which ends when the false provider recovers", async () => {
    const { tellers, advanceSeconds, cursor, alarms } = await setUp(2);
    const [liar, honest] = tellers;
    await advanceSeconds(5);
    honest.isUnreachable = true;
    liar.forkAt = liar.headNumber;
    await advanceSeconds(20);
    honest.isUnreachable = false;
    await advanceSeconds(110);
    equal((await cursor()).hash, `0xfalse${liar.headNumber}`, "who lies cannot be known");
    ok(alarms.includes("providers_differ"));
    liar.forkAt = undefined;
    await advanceSeconds(60);
    equal((await cursor()).hash, `0xtrue${honest.headNumber}`);
  });

  test("a provider far behind orphans nothing", async () => {
    const { tellers, advanceSeconds, cursor } = await setUp(2);
    const [, late] = tellers;
    late.headNumber -= 60n;
    await advanceSeconds(100);
    equal((await cursor()).hash, `0xtrue${tellers[0].headNumber}`);
    equal((await db.root.selectFrom("block").select("hash").where("orphaned_at", "is not", null).execute()).length, 0);
  });

  test("a provider far behind stops pushed heads until it is known to be stuck, logged once", async () => {
    const { tellers, advanceSeconds, push, warnings } = await setUp(2);
    const [, late] = tellers;
    const countWarnings = (what: RegExp) => warnings.filter((warning) => what.test(warning)).length;
    await advanceSeconds(1);
    equal(await push(), "recorded");
    late.isFrozen = true;
    await advanceSeconds(50);
    equal(await push(), "discontinuous");
    equal(countWarnings(/pushed heads are ignored/), 1);
    equal(countWarnings(/followed again/), 0);
    await advanceSeconds(20);
    equal(await push(), "recorded");
    late.headNumber += 1n;
    await advanceSeconds(6);
    equal(await push(), "discontinuous", "it moves, and may know something else");
    await advanceSeconds(40);
    equal(await push(), "recorded", "it moves no more");
    late.isFrozen = false;
    late.headNumber = tellers[0].headNumber;
    await advanceSeconds(6);
    equal(await push(), "recorded");
    equal(countWarnings(/pushed heads are ignored/), 2);
    equal(countWarnings(/followed again/), 2);
  });

  test("a false single provider that becomes honest does not stop the chain", async () => {
    const { tellers, advanceSeconds, cursor } = await setUp(1);
    const [only] = tellers;
    await advanceSeconds(5);
    only.forkAt = only.headNumber;
    only.headNumber += 40n;
    await advanceSeconds(3);
    only.forkAt = undefined;
    only.headNumber -= 41n;
    await advanceSeconds(45);
    equal((await cursor()).hash, `0xtrue${only.headNumber}`);
  });
});
