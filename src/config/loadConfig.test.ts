import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { publishedContracts } from "@tributary/inbox/publishedContracts";
import { privateKeyToAccount } from "viem/accounts";
import { isEvmChainConfig } from "./config.ts";
import { loadConfig, readConfig } from "./loadConfig.ts";
import { ConfigError } from "./section.ts";
import { findKnownChain, listKnownChains } from "./knownChains.ts";

const KEY = `0x${"1a".repeat(32)}` as const;
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const PATH = new URL("../../config/testnets.json", import.meta.url).pathname;
const VARIABLES = { TRIBUTARY_GAS_KEY_BASE_SEPOLIA: KEY, TRIBUTARY_GAS_KEY_SEPOLIA: KEY, PATH: "/bin" };

type Json = Record<string, unknown>;
type Draft = Json & { chains: (Json & { tokens: Json[] })[] };

function sample(): Draft {
  return JSON.parse(readFileSync(PATH, "utf8")) as Draft;
}

/** The sample with one thing changed, at a path such as "chains.0.tokens.0.decimals"; undefined removes it. */
function modifySample(...changes: [path: string, value: unknown][]): Draft {
  const draft = sample();
  for (const [path, value] of changes) {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    const parent = keys.reduce<Json>((at, key) => at[key] as Json, draft);
    if (value === undefined) Reflect.deleteProperty(parent, last);
    else parent[last] = value;
  }
  return draft;
}

const load = (draft: unknown, variables: Record<string, string> = VARIABLES) =>
  readConfig(draft, { variables, directory: "/srv" });

test("the sample for public testnets loads, with the defaults of its networks", () => {
  const config = loadConfig(PATH, VARIABLES);
  const [base, sepolia] = config.chains;
  assert.equal(config.environment, "test");
  assert.equal(config.defaultRail, "base-sepolia:usdc");
  assert.equal(base?.caip2, "eip155:84532");
  assert.equal(base?.slug, "base-sepolia");
  assert.ok(base && isEvmChainConfig(base));
  assert.equal(base.gasKey, KEY);
  assert.equal(base?.defaultToken, "USDC");
  assert.deepEqual(base?.tokens[0]?.address, USDC.toLowerCase());
  assert.equal(base?.tokens[0]?.minimumUnits, 10_000n);
  assert.deepEqual(base?.finality, [
    { upToPriceUnits: 10_000_000_000n, finality: { seconds: 10 } },
    { upToPriceUnits: 250_000_000_000n, finality: { tag: "safe" } },
    { upToPriceUnits: undefined, finality: { tag: "finalized" } },
  ]);
  assert.equal(sepolia?.explorerUrl, "https://sepolia.etherscan.io");
});

test("known chains know their block times, wait in seconds, and know where a bloom belongs to other blocks", () => {
  const known = (chainId: number) => findKnownChain(chainId);
  for (const chainId of [8_453, 84_532]) {
    assert.equal(known(chainId)?.estimates?.blockMs, 200);
    assert.deepEqual(known(chainId)?.finality[0]?.finality, { seconds: 10 });
  }
  assert.equal(known(56)?.estimates?.blockMs, 450);
  assert.equal(known(42_161)?.estimates?.blockMs, 250);
  const foreign = listKnownChains().filter(({ hasForeignBloom }) => hasForeignBloom === true);
  assert.deepEqual(
    foreign.map(({ slug }) => slug),
    ["avalanche", "avalanche-fuji"],
  );
  for (const { slug, finality } of listKnownChains())
    for (const { finality: rule } of finality)
      // One confirmation is the block itself, whatever the block time.
      assert.ok(!("confirmations" in rule) || rule.confirmations === 1, slug);
});

test("a bloom can be called foreign in the configuration", () => {
  const read = (value: unknown) => load(modifySample(["chains.0.hasForeignBloom", value])).chains[0];
  assert.equal(Reflect.get(read(undefined) ?? {}, "hasForeignBloom"), false);
  assert.equal(Reflect.get(read(true) ?? {}, "hasForeignBloom"), true);
});

test("support is an https URL or a mail address, and becomes a link", () => {
  const support = (value: unknown) => load(modifySample(["support", value])).support;
  assert.equal(support(undefined), undefined);
  assert.equal(support("https://pay.example/help"), "https://pay.example/help");
  assert.equal(support("help@pay.example"), "mailto:help@pay.example");
  for (const value of ["http://pay.example", "javascript:alert(1)", "help", "a@b", "https://u@pay.example", "a b@c.d"])
    assert.throws(() => support(value), /^ConfigError: support: .* https:\/\/ URL/, value);
});

test("the fee ceiling is in gwei, by default that of the network, and 500 gwei on an unknown one", () => {
  const ceilings = (...changes: [path: string, value: unknown][]) =>
    load(modifySample(...changes))
      .chains.filter(isEvmChainConfig)
      .map(({ maxFeePerGas }) => maxFeePerGas);
  const gwei = 10n ** 9n;
  assert.deepEqual(ceilings(), [100n * gwei, 1_000n * gwei]);
  assert.deepEqual(ceilings(["chains.0.maxFeePerGasGwei", "0.05"]), [gwei / 20n, 1_000n * gwei]);
  const unknown = {
    name: "Own",
    slug: "base-sepolia",
    publicRpcUrl: "https://own.test",
    explorerUrl: "https://own.test",
  };
  const own = {
    ...unknown,
    chainId: 424_242,
    native: { name: "Own", symbol: "OWN", decimals: 18 },
    finality: [{ confirmations: 1 }],
  };
  const changes = Object.entries(own).map(([key, value]): [string, unknown] => [`chains.0.${key}`, value]);
  assert.deepEqual(ceilings(...changes), [500n * gwei, 1_000n * gwei]);
});

test("environment variables override the file, and PORT changes the default base URL", () => {
  const variables = { ...VARIABLES, TRIBUTARY_DATABASE_URL: "postgres://u:p@db/tributary", PORT: "9000" };
  const config = load(modifySample(["baseUrl", undefined]), variables);
  assert.deepEqual(config.database, { kind: "postgres", url: "postgres://u:p@db/tributary" });
  assert.deepEqual(config.listen, { host: "127.0.0.1", port: 9000 });
  assert.equal(config.baseUrl, "http://127.0.0.1:9000");
  assert.equal(
    load(sample(), { ...VARIABLES, TRIBUTARY_BASE_URL: "https://pay.test/x/" }).baseUrl,
    "https://pay.test/x",
  );
});

test("only the proxies that the file names are trusted", () => {
  assert.deepEqual(load(sample()).trustedProxies, []);
  const trustedProxies = ["10.0.0.0/8", "::1", "192.0.2.7"];
  assert.deepEqual(load(modifySample(["trustedProxies", trustedProxies])).trustedProxies, trustedProxies);
});

test("an amount above 2^53 keeps every digit", () => {
  const config = load(modifySample(["chains.0.tokens.0.minimumUnits", "9007199254740993"]));
  assert.equal(config.chains[0]?.tokens[0]?.minimumUnits, 9_007_199_254_740_993n);
});

const MAINNET: [string, unknown][] = [
  ["environment", "live"],
  ["baseUrl", "https://pay.example.com"],
  ["database", { url: "postgres://db/tributary" }],
  ["chains.0.chainId", 8453],
  ["chains.1.chainId", 1],
  ["defaultRail", "base:usdc"],
  ["acceptRisks", ["singleProvider", "burnFeeRecipient"]],
];

test("a live configuration needs PostgreSQL or allowEmbeddedLive", () => {
  assert.equal(load(modifySample(...MAINNET)).environment, "live");
  const embedded = { directory: "data", allowEmbeddedLive: true };
  assert.deepEqual(load(modifySample(...MAINNET, ["database", embedded])).database, {
    kind: "pglite",
    directory: "/srv/data",
  });
});

const TWO_TIERS = [{ upToPriceUnits: "5", confirmations: 1 }, { tag: "safe" }];
const REJECTED_CONFIGS: [name: string, changes: [string, unknown][], sentence: RegExp][] = [
  ["an unknown key", [["chain", []]], /^chain: unknown key; did you mean chains\?$/],
  [
    "an unknown key of a token",
    [["chains.1.tokens.0.decimal", 6]],
    /^chains\[1\]\.tokens\[0\]\.decimal: .* did you mean decimals\?$/,
  ],
  [
    "decimals as a string",
    [["chains.1.tokens.0.decimals", "6"]],
    /^chains\[1\]\.tokens\[0\]\.decimals: "6" .* whole number/,
  ],
  ["no decimals", [["chains.1.tokens.0.decimals", undefined]], /^chains\[1\]\.tokens\[0\]\.decimals: missing; give/],
  [
    "an amount as a number",
    [["chains.0.tokens.0.minimumUnits", 10]],
    /^chains\[0\]\.tokens\[0\]\.minimumUnits: 10 .* string of digits/,
  ],
  [
    "a wrong checksum",
    [["chains.0.tokens.0.address", USDC.replace("cb", "CB").replace("Cb", "cB")]],
    /^chains\[0\]\.tokens\[0\]\.address: .* checksum/,
  ],
  [
    "the zero address as fee recipient",
    [["feeRecipient", `0x${"0".repeat(40)}`]],
    /^feeRecipient: .* not the zero address/,
  ],
  ...publishedContracts.map((contract): (typeof REJECTED_CONFIGS)[number] => [
    `the contract ${contract} as fee recipient`,
    [["feeRecipient", contract]],
    /^feeRecipient: this is a contract of the service/,
  ]),
  ["a token contract as fee recipient", [["feeRecipient", USDC]], /^feeRecipient: this is the contract of USDC/],
  [
    "an invalid proxy network",
    [["trustedProxies", ["10.0.0.0/33"]]],
    /^trustedProxies\[0\]: "10\.0\.0\.0\/33" is not accepted; give an IP address or a network/,
  ],
  ["a fee above the cap", [["feeBps", 1001]], /^feeBps: 1001 is not accepted; give a whole number from 0 to 1000\.$/],
  [
    "an unknown default rail",
    [["defaultRail", "base-sepolia:usdt"]],
    /^defaultRail: .* did you mean base-sepolia:usdc\?$/,
  ],
  [
    "two rails without a default",
    [["defaultRail", undefined]],
    /^defaultRail: missing; give one of base-sepolia:usdc, sepolia:usdc\.$/,
  ],
  [
    "the same chain twice",
    [["chains.1.chainId", 84532]],
    /^chains\[1\]\.chainId: "84532" is already used by chains\[0\]/,
  ],
  [
    "the same slug twice",
    [["chains.1.slug", "base-sepolia"]],
    /^chains\[1\]\.slug: "base-sepolia" is already used by chains\[0\]/,
  ],
  [
    "the same token twice",
    [["chains.0.tokens.1", { symbol: "B", address: USDC.toLowerCase(), decimals: 6 }]],
    /^chains\[0\]\.tokens\[1\]\.address: .* is already used by chains\[0\]\.tokens\[0\]/,
  ],
  ["no chain", [["chains", []]], /^chains: \[\] is not accepted; give a list with at least one entry\.$/],
  ["a chain without RPC", [["chains.0.rpcUrls", undefined]], /^chains\[0\]\.rpcUrls: missing/],
  [
    "an RPC URL without a scheme",
    [["chains.0.rpcUrls.1", "base.org"]],
    /^chains\[0\]\.rpcUrls\[1\]: the value is not accepted; give a URL/,
  ],
  [
    "a WebSocket URL with another scheme, whose key the error hides",
    [["chains.0.wsUrls", ["https://base.example/secret"]]],
    /^chains\[0\]\.wsUrls\[0\]: the value is not accepted; give a URL that begins with ws:\/\/ or wss:\/\/, without a fragment\.$/,
  ],
  ["a private chain without a name", [["chains.0.chainId", 424242]], /^chains\[0\]\.name: missing/],
  [
    "a private key in the file",
    [["chains.0.gasKey", KEY]],
    /^chains\[0\]\.gasKey: a private key does not belong in this file/,
  ],
  [
    "an unset variable",
    [["chains.0.gasKeyEnv", "NOT_SET"]],
    /^chains\[0\]\.gasKeyEnv: the environment variable NOT_SET is not set/,
  ],
  ["no gas key", [["chains.0.gasKeyEnv", undefined]], /^chains\[0\]\.gasKeyEnv: name either/],
  [
    "a missing key file",
    [
      ["chains.0.gasKeyEnv", undefined],
      ["chains.0.gasKeyFile", "no"],
    ],
    /^chains\[0\]\.gasKeyFile: the file \/srv\/no cannot be read/,
  ],
  [
    "tiers out of order",
    [["chains.0.finality", [TWO_TIERS[0], ...TWO_TIERS]]],
    /^chains\[0\]\.finality\[1\]\.upToPriceUnits: 5 is not above/,
  ],
  [
    "a limit on the last tier",
    [["chains.0.finality", [TWO_TIERS[0]]]],
    /^chains\[0\]\.finality\[0\]\.upToPriceUnits: the last tier/,
  ],
  ["an empty tier", [["chains.0.finality", [{}]]], /^chains\[0\]\.finality\[0\]: give either/],
  [
    "a tier in seconds and in blocks",
    [["chains.0.finality", [{ seconds: 10, confirmations: 5 }]]],
    /^chains\[0\]\.finality\[0\]: give either "seconds", "confirmations" or "tag", and only one/,
  ],
  [
    "a tier of no seconds",
    [["chains.0.finality", [{ seconds: 0 }]]],
    /^chains\[0\]\.finality\[0\]\.seconds: 0 is not accepted/,
  ],
  [
    "an unknown tag",
    [["chains.0.finality", [{ tag: "final" }]]],
    /^chains\[0\]\.finality\[0\]\.tag: "final" .* "safe" or "finalized"/,
  ],
  [
    "a default token that is not a rail",
    [["chains.0.defaultToken", "EURC"]],
    /^chains\[0\]\.defaultToken: "EURC" .* "USDC"/,
  ],
  [
    "a fee ceiling that is a number",
    [["chains.0.maxFeePerGasGwei", 50]],
    /^chains\[0\]\.maxFeePerGasGwei: 50 .* price of gas in gwei/,
  ],
  ["a fee ceiling of zero", [["chains.0.maxFeePerGasGwei", "0"]], /^chains\[0\]\.maxFeePerGasGwei: "0" .* above 0/],
  [
    "a fee ceiling in wei",
    [["chains.0.maxFeePerGasGwei", "50000000000"]],
    /^chains\[0\]\.maxFeePerGasGwei: "50000000000" .* up to 1000000/,
  ],
  [
    "a fee ceiling finer than a wei",
    [["chains.0.maxFeePerGasGwei", "0.0000000001"]],
    /^chains\[0\]\.maxFeePerGasGwei: "0\.0000000001" /,
  ],
  ["no database", [["database", undefined]], /^database: missing; set TRIBUTARY_DATABASE_URL/],
  ["two databases", [["database", { url: "postgres://x/y", directory: "z" }]], /^database: give either/],
  [
    "an unsupported database",
    [["database", { url: "mysql://u:secret@db/x" }]],
    /^database\.url: the value is not accepted/,
  ],
  ["a base URL with a query", [["baseUrl", "https://x.test/?a"]], /^baseUrl: /],
  [
    "a real network in a test configuration",
    [["chains.0.chainId", 8453]],
    /^chains\[0\]\.chainId: 8453 \(Base\) is a real network; set environment to "live"/,
  ],
  [
    "a test network in a live configuration",
    [...MAINNET, ["chains.0.chainId", 84532]],
    /^chains\[0\]\.chainId: 84532 .* test network/,
  ],
  ["a live base URL without https", [...MAINNET, ["baseUrl", "http://x.test"]], /^baseUrl: .* https:\/\//],
  [
    "a live configuration on the embedded database",
    [...MAINNET, ["database", { directory: "data" }]],
    /^database\.directory: .* allowEmbeddedLive\.$/,
  ],
];

for (const [name, changes, sentence] of REJECTED_CONFIGS) {
  test(`rejected in one sentence: ${name}`, () => {
    assert.throws(
      () => load(modifySample(...changes)),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, sentence);
        assert.doesNotMatch(error.message, /\n|secret|1a1a1a/);
        return true;
      },
    );
  });
}

test("rejected in one sentence: invalid keys and variables of the environment", () => {
  const live = modifySample(...MAINNET);
  const wellKnownKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
  assert.throws(
    () => load(live, { ...VARIABLES, TRIBUTARY_GAS_KEY_BASE_SEPOLIA: wellKnownKey }),
    /^ConfigError: .* publicly known key/,
  );
  assert.throws(
    () => load(sample(), { ...VARIABLES, TRIBUTARY_GAS_KEY_SEPOLIA: "0x12" }),
    /does not hold a private key of 0x and 64/,
  );
  assert.throws(
    () => load(sample(), { ...VARIABLES, TRIBUTARY_DATABSE_URL: "x" }),
    /did you mean TRIBUTARY_DATABASE_URL\?$/,
  );
  assert.throws(() => load(sample(), { ...VARIABLES, PORT: "http" }), /^ConfigError: PORT: "http" is not a port/);
});

test("rejected in one sentence: a missing file, and a file that is not JSON", () => {
  assert.throws(
    () => loadConfig("/nowhere/at.all", {}),
    /^ConfigError: \/nowhere\/at\.all: the configuration file cannot be read/,
  );
  assert.throws(() => loadConfig(new URL(import.meta.url).pathname, {}), /^ConfigError: .*: not valid JSON/);
});

test("a process without the role settle reads no key and needs the address of each", () => {
  const withoutKeys = (draft: unknown) =>
    readConfig(draft, { variables: {}, directory: "/srv", roles: new Set(["api", "watch"]) });
  assert.throws(() => withoutKeys(sample()), /^ConfigError: chains\[0\]\.gasAccount: give the address/);
  const account = `0x${"1b".repeat(20)}`;
  const draft = modifySample(["chains.0.gasAccount", account], ["chains.1.gasAccount", account]);
  const [base] = withoutKeys(draft).chains;
  assert.ok(base && isEvmChainConfig(base));
  assert.deepEqual([base.gasKey, base.gasAccount], [undefined, account]);
});

test("a command needs neither keys nor their addresses, and keeps no key", () => {
  const accountWith = (variables: Record<string, string | undefined>, keys?: "optional") => {
    const [base] = readConfig(sample(), { variables, directory: "/srv", keys }).chains;
    assert.ok(base && isEvmChainConfig(base));
    return [base.gasKey, base.gasAccount];
  };
  const { address } = privateKeyToAccount(KEY);
  const broken = { TRIBUTARY_GAS_KEY_BASE_SEPOLIA: "0x12" };
  assert.deepEqual(accountWith({}, "optional"), [undefined, ""]);
  assert.deepEqual(accountWith(VARIABLES, "optional"), [undefined, address.toLowerCase()]);
  assert.throws(() => accountWith(broken, "optional"), /^ConfigError: chains\[0\]\.gasKeyEnv: .* does not hold/);
});
