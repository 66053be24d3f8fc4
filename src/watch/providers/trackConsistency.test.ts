import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type ChainReader } from "../../chain/reader.ts";
import { systemClock } from "../../kernel/clock.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";
import { trackConsistency } from "./trackConsistency.ts";

const chain = { caip2: "eip155:1" } as unknown as Chain;

function setUp() {
  let nowMs = 0;
  const lines: { level: number; provider: string; alarm?: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
  const world = { clock: { ...systemClock, monotonicMs: () => nowMs }, memory: new ProcessMemory(), log };
  const ask = (outcome: ProviderFailed["kind"] | "fits" | "says nothing", provider = "one") =>
    trackConsistency(world, chain, {
      reading: "ranges",
      work: async () => {
        if (outcome === "fits" || outcome === "says nothing") return outcome;
        throw new ProviderFailed(outcome, "no");
      },
      isConclusive: (answer) => answer === "fits",
    })({ name: provider } as unknown as ChainReader);
  const fail = (kind: ProviderFailed["kind"], provider?: string) =>
    rejects(ask(kind, provider), (error) => error instanceof ProviderFailed);
  const seen = () => lines.splice(0).map(({ level, provider }) => `${level === 50 ? "error" : "info"} ${provider}`);
  return { ask, fail, seen, pass: (ms: number) => (nowMs += ms) };
}

test("answers that do not fit for a minute are logged once, and once when they fit again", async () => {
  const { ask, fail, seen, pass } = setUp();
  for (let second = 0; second < 60; second += 1) {
    await fail("unknown_block");
    pass(1_000);
  }
  deepEqual(seen(), []);
  await fail("unknown_block");
  await fail("unknown_block");
  deepEqual(seen(), ["error one"]);
  await ask("fits");
  deepEqual(seen(), [], "it may contradict itself again at once");
  pass(60_000);
  await ask("says nothing");
  deepEqual(seen(), []);
  await ask("fits");
  await ask("fits");
  deepEqual(seen(), ["info one"]);
});

test("a contradiction is logged at once, for each provider", async () => {
  const { fail, seen } = setUp();
  await fail("contradictory");
  await fail("contradictory");
  await fail("contradictory", "two");
  deepEqual(seen(), ["error one", "error two"]);
});

test("a short lag, and a provider that is unreachable, are not logged", async () => {
  const { ask, fail, seen, pass } = setUp();
  for (let round = 0; round < 5; round += 1) {
    await fail("unknown_block");
    pass(40_000);
    equal(await ask("fits"), "fits");
    await fail("unreachable");
    pass(40_000);
  }
  deepEqual(seen(), []);
});
