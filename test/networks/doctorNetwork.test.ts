import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { hubAddress } from "@tributary/inbox/hub";
import type { Hex } from "@tributary/inbox/terms";
import { pino } from "pino";
import { checkNetworks } from "../../src/alarm/checkNetworks.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { compareNetwork, type ComparedNode } from "../../src/chain/evm/network/compareNetwork.ts";
import { measureSlotGas } from "../../src/chain/evm/network/probes.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openForeignAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { ProviderFailed } from "../../src/chain/reader.ts";
import type { Config } from "../../src/config/config.ts";
import { findNetwork, type Network } from "../../src/config/networks/network.ts";
import { startAnvil } from "../../src/dev/chains/anvil.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { runCli } from "../support/cli.ts";
import { startDressedChain, type DressedChain } from "./dressedChain.ts";

// `tributary doctor --network` on a local chain dressed as Base.

const HOUR_MS = 3_600_000;
const BASE = findNetwork("eip155:8453") as Network;
const [USDC] = BASE.tokens;
let chain: DressedChain;
before(async () => {
  chain = await startDressedChain(BASE.caip2);
});
after(() => chain.stop());

const doctor = (...words: string[]) =>
  runCli(["doctor", "--network", "base", "--rpc", chain.rpcUrl, ...words], { NO_COLOR: "1" });

/** The sentences of the fields that differ, on the chain as it is. */
async function findDifferences(node: ComparedNode = nodeOf(chain.rpcUrl)): Promise<string[]> {
  return (await compareNetwork(node, BASE)).filter(({ state }) => state !== "same").map(({ text }) => text);
}

function nodeOf(rpcUrl: string) {
  return openEvmNode({ caip2: BASE.caip2, rpcUrl });
}

/** Changes the chain, compares, and changes it back. */
async function afterChange(change: () => Promise<unknown>): Promise<string[]> {
  const id = await chain.client.snapshot();
  try {
    await change();
    return await findDifferences();
  } finally {
    await chain.client.revert({ id });
  }
}

const setCode = (address: string, bytecode: Hex) => chain.client.setCode({ address: address as Hex, bytecode });

test("a local chain dressed as Base passes", async () => {
  const { code, out, err } = await doctor();
  assert.deepEqual([code, err], [0, ""]);
  const lines = out.trimEnd().split("\n");
  assert.equal(lines.length, 13);
  assert.ok(
    lines.every((line) => line.startsWith("✓ Base: ")),
    out,
  );
  assert.match(out, /^✓ Base: new storage slot {2,}22100 gas$/m);
  const { out: json } = await doctor("--json");
  assert.ok((JSON.parse(json) as { verdict: string }[]).every(({ verdict }) => verdict === "ok"));
});

/** The slots in which the token's code keeps whether it is initialized. */
async function clearStorage(account: string): Promise<void> {
  for (let index = 0; index < TOKEN_SLOTS; index += 1)
    await chain.client.setStorageAt({ address: account as Hex, index, value: `0x${"00".repeat(32)}` });
}

const TOKEN_SLOTS = 20;
const address = () => USDC?.address ?? "";
const WRONG: readonly [field: string, change: () => Promise<unknown>, sentence: RegExp][] = [
  [
    "decimals",
    () => chain.setAnswer(address(), "0x12"),
    /^USDC at 0x8335\S+ has 18 decimals, and the catalogue has 6\.$/,
  ],
  ["token", () => setCode(address(), "0x"), /^There is no token at 0x8335\S+, where the catalogue has USDC\.$/],
  [
    "symbol",
    async () => {
      await chain.client.setCode({ address: address() as Hex, bytecode: "0x" });
      await clearStorage(address());
      await chain.setToken({ symbol: "USDbC", address: address(), decimals: 6 });
    },
    /^The token at 0x8335\S+ calls itself USDbC, and the catalogue has USDC\.$/,
  ],
  ["hub", () => setCode(hubAddress, "0x"), /^No hub at 0x0000000b\S+ yet: tributary hub deploy puts it there\.$/],
  ["hub's code", () => setCode(hubAddress, "0x60016000f3"), /^The code at 0x0000000b\S+ is another one than the hub/],
  ["adapter", () => setCode(cctpV2AdapterAddress, "0x"), /^No bridge adapter at 0x0fdd\S+ yet: tributary hub deploy/],
  [
    "domain",
    () => chain.setAnswer(BASE.cctp?.transmitter ?? "", "0x07"),
    /^The transmitter at 0x81D4\S+ has CCTP domain 7, and the catalogue has 6\.$/,
  ],
  [
    "transmitter",
    () => setCode(BASE.cctp?.transmitter ?? "", "0x"),
    /^There is no transmitter at 0x81D4\S+, which the catalogue has for CCTP domain 6\.$/,
  ],
  [
    "messenger",
    () => chain.setAnswer(BASE.cctp?.messenger ?? "", "0x5b61381Fc9e58E70EfC13a4A97516997019198ee"),
    /^It sends by 0x5b61\S+ at 0x28b5\S+, and the catalogue has one that sends by 0x81D4\S+\.$/,
  ],
];

for (const [field, change, sentence] of WRONG) {
  test(`a wrong ${field} is one sentence`, async () => {
    const differences = await afterChange(change);
    assert.match(differences[0] ?? "", sentence);
  });
}

test("a wrong chain id is the only sentence, because nothing else can be compared", async () => {
  const wrong = { ...BASE, caip2: "eip155:10" as const, name: "OP Mainnet" };
  assert.deepEqual(
    (await compareNetwork(nodeOf(chain.rpcUrl), wrong)).map(({ text }) => text),
    ["The node serves eip155:8453, and OP Mainnet is eip155:10."],
  );
});

test("a chain before Cancun has no transient storage", async () => {
  const anvil = await startAnvil({ chainId: 8_453, hardfork: "shanghai" });
  try {
    const texts = await findDifferences(nodeOf(anvil.rpcUrl));
    assert.ok(
      texts.includes("Base has no transient storage (EIP-1153), without which the hub cannot settle."),
      texts.join(),
    );
  } finally {
    await anvil.stop();
  }
});

test("a dear storage slot and a missing tag are sentences", async () => {
  const node = nodeOf(chain.rpcUrl);
  // No node here has such rules: one answer of the real one is replaced.
  const dear: ComparedNode = {
    identify: () => node.identify(),
    hasCode: (account) => node.hasCode(account),
    head: async (tag) => {
      if (tag === "safe") throw new ProviderFailed("unknown_block", "no safe block");
      return node.head(tag);
    },
    call: async (call) => {
      const answer = await node.call(call);
      return call.data.startsWith("0x5a60016000555a") ? `0x00${250_008n.toString(16).padStart(64, "0")}` : answer;
    },
  };
  assert.deepEqual(await findDifferences(dear), [
    "A new storage slot costs 250000 gas on Base, and above 140000 the hub's fee transfer cannot pay a new holder.",
    "Base knows no safe block, on which its finality rests in the catalogue.",
  ]);
  assert.equal(await measureSlotGas(node), 22_100n);
});

test("drift is an alarm of the chain, found within the hour and over once the chain is as before", async () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const evm = createEvmChain(
    {
      nodes: [nodeOf(chain.rpcUrl)],
      gasAccount: openForeignAccount(DEV_ACCOUNTS.operator.address),
      tokens: [address().toLowerCase()],
    },
    { clock, log: pino({ level: "silent" }) },
  );
  const world = { chains: new Map([[evm.caip2, evm]]), clock, memory: new ProcessMemory() };
  const config = {} as Config;
  const catalog = { chains: [] } as unknown as Catalog;
  const check = () => checkNetworks({ ...world, config, catalog });
  assert.deepEqual(await check(), []);
  const id = await chain.client.snapshot();
  await chain.setAnswer(BASE.cctp?.transmitter ?? "", "0x07");
  assert.deepEqual(await check(), [], "a chain is compared once an hour");
  nowMs += HOUR_MS;
  const [alarm, ...others] = await check();
  assert.deepEqual([alarm?.alarm, alarm?.facts["chain"], others], ["network_differs", BASE.caip2, []]);
  assert.match(String(alarm?.facts["reason"]), /has CCTP domain 7, and the catalogue has 6\.$/);
  await chain.client.revert({ id });
  nowMs += HOUR_MS;
  assert.deepEqual(await check(), []);
});

const REFUSED: readonly [words: string[], message: RegExp][] = [
  [["--network", "arc"], /^error: Arc \(5042\) needs another kind of chain .*024-refused-networks\.md\.$/m],
  [["--network", "4217"], /^error: Tempo \(4217\) needs another kind of chain .*250,000 gas/m],
  [["--network", "bsae"], /^error: The catalogue has no network bsae; did you mean base\?$/m],
  [["--network", "solana"], /^error: Solana is no EVM chain: tributary hub status --rpc/m],
  [["--network", "all", "--rpc", "http://127.0.0.1:1"], /^error: --rpc needs the name of one network/m],
  [["--rpc", "http://127.0.0.1:1"], /^error: --rpc needs --network\.$/m],
  [["--network", "base", "--ledger"], /^error: --network and --ledger are two checks/m],
];
for (const [words, message] of REFUSED) {
  test(`doctor ${words.join(" ")} is refused in one sentence`, async () => {
    const { code, err } = await runCli(["doctor", ...words]);
    assert.notEqual(code, 0);
    assert.match(err, message);
  });
}

test("a node that does not answer is a failed check", async () => {
  const { code, out } = await runCli(["doctor", "--network", "base", "--rpc", "http://127.0.0.1:1"], { NO_COLOR: "1" });
  assert.equal(code, 1);
  assert.match(out, /^✗ Base: provider {2}no node answers: 127\.0\.0\.1:1 was not reached/);
});
