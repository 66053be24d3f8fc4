import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { ChainRefused, ProviderFailed, type BlockRef, type ChainReader, type HeadTag } from "./reader.ts";
import { ChainMismatch, Providers } from "./providers.ts";
import { skippedKeys } from "./unreadable/unreadableEntry.ts";

// Rules alone decide the result of several providers, so these providers are scripted.

const GENESIS = `0x${"00".repeat(32)}`;

class ScriptedProvider implements Partial<ChainReader> {
  readonly caip2 = "eip155:1" as const;
  readonly name: string;
  servedCaip2: `eip155:${string}` = "eip155:1";
  genesisHash = GENESIS;
  failure: Error | undefined;
  heights: Record<HeadTag, bigint> = { latest: 100n, safe: 90n, finalized: 80n };
  requestCount = 0;

  constructor(name: string) {
    this.name = name;
  }

  identify = async () => {
    if (this.failure) throw this.failure;
    return { caip2: this.servedCaip2, genesisHash: this.genesisHash };
  };

  head = async (tag: HeadTag): Promise<BlockRef> => {
    this.requestCount += 1;
    if (this.failure) throw this.failure;
    const number = this.heights[tag];
    return { number, hash: `${this.name} ${number}`, parentHash: "", timestampS: 0 };
  };
}

function setUp(count = 2) {
  const clock = { ms: 0, now: () => new Date(0), monotonicMs: () => clock.ms, sleep: async () => undefined };
  const providerDoubles = ["first", "second", "third"].slice(0, count).map((name) => new ScriptedProvider(name));
  const readers = providerDoubles as unknown as [ChainReader, ...ChainReader[]];
  const providers = new Providers(readers, { clock, log: pino({ level: "silent" }) });
  const [first, second] = providerDoubles as [ScriptedProvider, ScriptedProvider];
  return { providers, first, second, clock };
}

const hashOf = async (providers: Providers) => (await providers.head("latest")).hash;

test("the preferred provider answers while it can, otherwise the next one", async () => {
  const { providers, first } = setUp();
  equal(await hashOf(providers), "first 100");
  first.failure = new ProviderFailed("timeout", "took too long");
  equal(await hashOf(providers), "second 100");
});

test("a failed provider has growing cooldowns, and is preferred again afterwards", async () => {
  const { providers, first, clock } = setUp();
  await hashOf(providers);
  first.failure = new ProviderFailed("unreachable", "refused");
  await hashOf(providers);
  const askedBefore = first.requestCount;
  clock.ms = 999;
  await hashOf(providers);
  equal(first.requestCount, askedBefore, "it rests for a second");
  clock.ms = 1_000;
  await hashOf(providers);
  equal(first.requestCount, askedBefore + 1);
  clock.ms = 2_500;
  await hashOf(providers);
  equal(first.requestCount, askedBefore + 1, "it rests for two");
  clock.ms = 3_000;
  first.failure = undefined;
  equal(await hashOf(providers), "first 100");
});

test("a second read uses a provider in cooldown only when no other answers", async () => {
  const { providers, second } = setUp();
  const askAnother = async () => (await providers.runLastFirst((reader) => reader.head("latest"))).hash;
  equal(await askAnother(), "second 100");
  providers.coolDown("second", 600_000);
  equal(await askAnother(), "first 100");
  providers.coolDown("first", 1_000);
  equal(await askAnother(), "second 100");
  providers.coolDown("first", 600_000);
  second.failure = new ProviderFailed("timeout", "took too long");
  equal(await askAnother(), "first 100");
});

test("Retry-After sets the minimum cooldown, and up to a minute of it holds for a single provider too", async () => {
  const { providers, first, clock } = setUp();
  await hashOf(providers);
  first.failure = new ProviderFailed("rate_limited", "HTTP 429", { retryAfterMs: 90_000 });
  equal(await hashOf(providers), "second 100");
  first.failure = undefined;
  clock.ms = 89_999;
  equal(await hashOf(providers), "second 100");
  clock.ms = 90_000;
  equal(await hashOf(providers), "first 100");

  const alone = setUp(1);
  await hashOf(alone.providers);
  alone.first.failure = new ProviderFailed("rate_limited", "HTTP 429", { retryAfterMs: 1e12 });
  await rejects(hashOf(alone.providers), { message: "HTTP 429" });
  const askedBefore = alone.first.requestCount;
  alone.clock.ms = 59_999;
  await rejects(hashOf(alone.providers), { message: "first accepts no requests for another 1 ms" });
  equal(alone.first.requestCount, askedBefore);
  alone.first.failure = undefined;
  alone.clock.ms = 60_000;
  equal(await hashOf(alone.providers), "first 100", "an absurd Retry-After has a limit");
});

test("when all providers are in cooldown they are still asked, and the error is thrown", async () => {
  const { providers, first, second } = setUp();
  first.failure = new ProviderFailed("timeout", "the first is slow");
  second.failure = new ProviderFailed("rate_limited", "the second is busy");
  await rejects(hashOf(providers), { message: "the first is slow" });
  first.failure = undefined;
  equal(await hashOf(providers), "first 100");
});

test("a refused range and a refused request are answers: no failover and no cooldown", async () => {
  for (const answer of [new ProviderFailed("range_too_large", "too large"), new ChainRefused("refused")]) {
    const { providers, first, second } = setUp();
    await hashOf(providers);
    first.failure = answer;
    await rejects(hashOf(providers), answer);
    equal(second.requestCount, 0);
    first.failure = undefined;
    equal(await hashOf(providers), "first 100");
  }
});

test("an unknown block fails over without a cooldown", async () => {
  const { providers, first } = setUp();
  first.failure = new ProviderFailed("unknown_block", "not here yet");
  equal(await hashOf(providers), "second 100");
  first.failure = undefined;
  equal(await hashOf(providers), "first 100");
});

test("finality is the second highest answer: one provider can neither raise nor delay it", async () => {
  const { providers, first, second } = setUp(3);
  equal((await providers.head("finalized")).number, 80n);
  first.heights.finalized = 1_000_000n;
  equal((await providers.head("finalized")).number, 80n);
  first.heights.finalized = 0n;
  equal((await providers.head("finalized")).number, 80n);
  second.heights.finalized = 70n;
  equal((await providers.head("finalized")).number, 70n);
});

test("finality is the lower of two reachable answers, and the answer of a single provider", async () => {
  const { providers, first, second } = setUp();
  second.heights.finalized = 77n;
  equal((await providers.head("finalized")).number, 77n);
  second.failure = new ProviderFailed("unreachable", "refused");
  equal((await providers.head("finalized")).number, 80n);
  first.failure = new ProviderFailed("unknown_block", "no such tag");
  await rejects(providers.head("finalized"), ProviderFailed);
});

test("runAll returns every reply and failure, one per name", async () => {
  const { providers, first, second } = setUp(3);
  Object.assign(second, { name: first.name });
  first.failure = new ProviderFailed("unreachable", "refused");
  deepEqual(await providers.runAll(async (reader) => (reader as unknown as ScriptedProvider).heights.latest), [
    { provider: "first", answer: 100n },
    { provider: "third", answer: 100n },
  ]);
  equal(providers.providerCount, 2);
});

test("a provider of another chain is refused at start, in one sentence, and gets no other request", async () => {
  const { providers, second, first } = setUp();
  second.servedCaip2 = "eip155:8453";
  await rejects(providers.verify(), (error) => {
    equal(
      error instanceof ChainMismatch && error.message,
      "second is configured as a provider of eip155:1 but serves eip155:8453.",
    );
    return true;
  });
  first.failure = new ProviderFailed("unreachable", "refused");
  await rejects(hashOf(providers), { message: "refused" });
  equal(second.requestCount, 0);
});

test("a provider of another chain with the same number is known by its first block", async () => {
  const { providers, second } = setUp();
  second.genesisHash = `0x${"11".repeat(32)}`;
  await rejects(providers.verify(), ChainMismatch);
  deepEqual(await providers.identify(), { caip2: "eip155:1", genesisHash: GENESIS });
});

test("an unreachable provider is accepted at start, and verified before its first use", async () => {
  const { providers, first, second, clock } = setUp();
  second.failure = new ProviderFailed("unreachable", "refused");
  await providers.verify();
  second.failure = undefined;
  second.servedCaip2 = "eip155:5";
  first.failure = new ProviderFailed("unreachable", "refused");
  clock.ms = 60_000;
  await rejects(hashOf(providers));
  equal(second.requestCount, 0);
});

test("a URL that changes its chain at run time is detected within the hour", async () => {
  const { providers, first, clock } = setUp();
  equal(await hashOf(providers), "first 100");
  first.servedCaip2 = "eip155:137";
  clock.ms = 3_600_000;
  equal(await hashOf(providers), "second 100");
});

test("what several lists of one request show is left out of each, and what it needs itself is not", async () => {
  const { providers } = setUp(1);
  const accepted: string[][] = [];
  providers.onUnreadable(async (entries) => {
    accepted.push(entries.flatMap(skippedKeys));
    return true;
  });
  const shownBy = (...listedBy: string[]) => {
    const entry = { key: "tx", kind: "transaction", reason: "version 2", names: listedBy, namesProgram: true } as const;
    const unknown = { chainTx: undefined, blockNumber: undefined, place: undefined };
    return new ProviderFailed("unreadable", "version 2", { unreadable: [{ ...entry, ...unknown, listedBy }] });
  };
  const failures = [shownBy(), shownBy("one inbox"), shownBy("another inbox")];
  const read = async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return "read";
  };
  equal(await providers.run(read), "read");
  deepEqual(accepted, [["tx"], ["tx", "tx one inbox"], ["tx", "tx another inbox"]]);
  failures.push(shownBy("one inbox"), shownBy("one inbox"));
  await rejects(providers.run(read), ProviderFailed);
});

test("holdings are offered where every provider reads them", async () => {
  const { first, second } = setUp();
  const open = () => {
    const readers = [first, second] as unknown as [ChainReader, ...ChainReader[]];
    const clock = { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => undefined };
    return new Providers(readers, { clock, log: pino({ level: "silent" }) });
  };
  equal(open().holdings, undefined);
  Object.assign(first, { holdings: () => Promise.reject(new ProviderFailed("timeout", "took too long")) });
  equal(open().holdings, undefined);
  Object.assign(second, { holdings: async () => ({ blockNumber: 7n, units: [5n] }) });
  deepEqual(await open().holdings?.("token", ["owner"]), { blockNumber: 7n, units: [5n] });
});
