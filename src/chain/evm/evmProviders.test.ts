import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { ProviderFailed } from "../reader.ts";
import { EvmProviders } from "./evmProviders.ts";
import { CallReverted, type EvmNode, type SubmitOutcome } from "./node.ts";

// Rules alone decide the result of several providers, so these nodes are scripted.

class ScriptedNode implements Partial<EvmNode> {
  readonly caip2 = "eip155:1" as const;
  readonly name: string;
  failure: Error | undefined;
  requestCount = 0;
  gas = 21_000n;
  gasFailure: Error | undefined;
  baseFeePerGas = 10n;
  tip = 1n;
  nonceReply: bigint | Error = 7n;
  outcome: SubmitOutcome = { kind: "known" };

  constructor(name: string) {
    this.name = name;
  }

  identify = async () => {
    if (this.failure) throw this.failure;
    return { caip2: this.caip2, genesisHash: `0x${"00".repeat(32)}` };
  };

  estimateGas = async () => {
    if (this.gasFailure) throw this.gasFailure;
    return this.gas;
  };

  nonce = async () => {
    if (typeof this.nonceReply !== "bigint") throw this.nonceReply;
    return this.nonceReply;
  };

  fees = async () => {
    if (this.failure) throw this.failure;
    return { baseFeePerGas: this.baseFeePerGas, maxPriorityFeePerGas: this.tip };
  };

  submit = async () => {
    this.requestCount += 1;
    if (this.failure) throw this.failure;
    return this.outcome;
  };
}

function setUp(count = 2) {
  const clock = { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => undefined };
  const doubles = ["first", "second", "third"].slice(0, count).map((name) => new ScriptedNode(name));
  const nodes = doubles as unknown as [EvmNode, ...EvmNode[]];
  const providers = new EvmProviders(nodes, { clock, log: pino({ level: "silent" }) });
  const [first, second] = doubles as [ScriptedNode, ScriptedNode];
  return { providers, first, second };
}

test("a refused call needs a second provider", async () => {
  const { providers, first } = setUp(3);
  first.gasFailure = new CallReverted("reverted");
  equal(await providers.estimateGas({ to: "0x", data: "0x" }), 21_000n);
});

test("one false quote of base fee and tip changes no fee while another provider answers", async () => {
  const { providers, first, second } = setUp(3);
  [first.baseFeePerGas, first.tip] = [1_000_000n, 3_000n];
  [second.baseFeePerGas, second.tip] = [12n, 2n];
  deepEqual(await providers.fees(), { baseFeePerGas: 12n, maxPriorityFeePerGas: 2n });
  second.failure = new ProviderFailed("unreachable", "refused");
  deepEqual(await providers.fees(), { baseFeePerGas: 10n, maxPriorityFeePerGas: 1n }, "the lower one of two");
});

test("a provider in cooldown is asked again before one quote alone decides", async () => {
  const { providers, first, second } = setUp(2);
  second.failure = new ProviderFailed("unreachable", "refused");
  await providers.fees();
  [first.baseFeePerGas, first.tip] = [1_000_000n, 3_000n];
  second.failure = undefined;
  deepEqual(await providers.fees(), { baseFeePerGas: 10n, maxPriorityFeePerGas: 1n });
});

test("a broadcast continues until a provider gives a known outcome", async () => {
  const { providers, first, second } = setUp();
  first.failure = new ProviderFailed("timeout", "took too long");
  deepEqual(await providers.submit("0x"), { kind: "known" });
  second.failure = new ProviderFailed("unreachable", "refused");
  const outcome = await providers.submit("0x");
  equal(outcome.kind, "unknown");
});

test("a broadcast continues until a provider accepts it, and otherwise returns the rejection", async () => {
  const { providers, first, second } = setUp(3);
  for (const outcome of [
    { kind: "no_funds" },
    { kind: "nonce_used" },
    { kind: "underpriced" },
    { kind: "untakeable", reason: "intrinsic gas too low" },
  ] as const) {
    first.outcome = outcome;
    deepEqual(await providers.submit("0x"), { kind: "known" });
  }
  const alone = setUp(2);
  alone.first.outcome = { kind: "unknown", reason: "took too long" };
  alone.second.outcome = { kind: "untakeable", reason: "intrinsic gas too low" };
  deepEqual(await alone.providers.submit("0x"), alone.second.outcome);
  alone.first.outcome = { kind: "nonce_used" };
  deepEqual(await alone.providers.submit("0x"), { kind: "nonce_used" });
  equal(second.requestCount, 4);
});

test("a repeated broadcast goes to every provider", async () => {
  const { providers, first, second } = setUp();
  await providers.submit("0x");
  deepEqual([first.requestCount, second.requestCount], [1, 0]);
  second.outcome = { kind: "underpriced" };
  deepEqual(await providers.submit("0x", "all"), { kind: "known" });
  deepEqual([first.requestCount, second.requestCount], [2, 1]);
  first.failure = new ProviderFailed("unreachable", "refused");
  second.outcome = { kind: "accepted" };
  deepEqual(await providers.submit("0x", "all"), { kind: "accepted" });
});

test("an impossible gas estimate fails over to the next provider", async () => {
  const { providers, first, second } = setUp();
  second.gas = 90_000n;
  for (const gas of [0n, 20_999n, 16_777_217n, 1_000_000_000n]) {
    first.gas = gas;
    equal(await providers.estimateGas({ to: "0x", data: "0x" }), 90_000n);
  }
  second.gas = 1_000_000_000n;
  await rejects(providers.estimateGas({ to: "0x", data: "0x" }), CallReverted, "a smaller call is to be tried");
  first.gas = second.gas = 20_999n;
  await rejects(providers.estimateGas({ to: "0x", data: "0x" }), ProviderFailed);
});

test("the nonce is the lower median, and the lowest answer for a first nonce", async () => {
  const { providers, first, second } = setUp(3);
  first.nonceReply = 10_000n;
  equal(await providers.nonce("0x"), 7n);
  first.nonceReply = 0n;
  equal(await providers.nonce("0x"), 7n);
  equal(await providers.lowestNonce("0x"), 0n);
  first.nonceReply = 10_000n;
  second.nonceReply = new ProviderFailed("unreachable", "refused");
  equal(await providers.nonce("0x"), 7n);
  equal(await providers.lowestNonce("0x"), 7n);
  const alone = setUp(1);
  alone.first.nonceReply = new ProviderFailed("unreachable", "refused");
  await rejects(alone.providers.lowestNonce("0x"), ProviderFailed);
  await rejects(alone.providers.nonce("0x"), ProviderFailed);
});
