import assert from "node:assert/strict";
import { test } from "node:test";
import { findCctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { readConfig } from "../loadConfig.ts";

const VARIABLES = { GAS_KEY: `0x${"1a".repeat(32)}` };
const BASE_USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const SEPOLIA_USDC = "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238";
const CONTRACTS = {
  domain: 77,
  messenger: "0x00000000000000000000000000000000000000aa",
  transmitter: "0x00000000000000000000000000000000000000bb",
};

type Side = { chain?: object; token?: object };
type Given = { base?: Side; sepolia?: Side; top?: object };

/** Base Sepolia and Sepolia with Circle's USDC, both bridged unless a side says otherwise. */
function loadConfig({ base = {}, sepolia = {}, top = {} }: Given) {
  const chainOf = (chainId: number, address: string, { chain, token }: Side) => ({
    chainId,
    rpcUrls: ["https://rpc.example"],
    gasKeyEnv: "GAS_KEY",
    tokens: [{ symbol: "USDC", address, decimals: 6, bridge: "cctp-v2", ...token }],
    ...chain,
  });
  const chains = [chainOf(84_532, BASE_USDC, base), chainOf(11_155_111, SEPOLIA_USDC, sepolia)];
  const config = {
    environment: "test",
    database: { directory: "db" },
    feeRecipient: "0x00000000000000000000000000000000000fee00",
    defaultRail: "base-sepolia:usdc",
    chains,
    ...top,
  };
  return readConfig(config, { variables: VARIABLES, directory: "/srv" });
}

const load = (given: Given) => loadConfig(given).chains;

const local = { chainId: 31_337, name: "L", slug: "l", publicRpcUrl: "http://l.test", explorerUrl: "http://l.test" };
const unknown = { ...local, native: { name: "E", symbol: "E", decimals: 18 }, finality: [{ confirmations: 1 }] };

test("a known chain has the published contracts of the bridge, and a token crosses only when it says so", () => {
  const [base, sepolia] = load({ sepolia: { token: { bridge: undefined } } });
  const { domain, messenger, transmitter } = findCctpV2Chain(84_532) ?? assert.fail("unknown");
  assert.deepEqual(base?.cctp, { domain, messenger, transmitter });
  assert.equal(sepolia?.cctp?.domain, 0);
  assert.deepEqual([base?.tokens[0]?.bridge, sepolia?.tokens[0]?.bridge], ["cctp-v2", undefined]);
});

test("a chain names other contracts, or has no bridge", () => {
  const [, own] = load({ sepolia: { chain: { ...unknown, cctp: CONTRACTS } } });
  assert.deepEqual(own?.cctp, CONTRACTS);
  const [base] = load({ base: { chain: { cctp: { transmitter: CONTRACTS.transmitter } } } });
  assert.deepEqual(base?.cctp, { ...findContracts(), transmitter: CONTRACTS.transmitter });
  const off = load({ base: { chain: { cctp: false }, token: { bridge: undefined } } });
  assert.equal(off[0]?.cctp, undefined);
});

function findContracts() {
  const { domain, messenger, transmitter } = findCctpV2Chain(84_532) ?? assert.fail("unknown");
  return { domain, messenger, transmitter };
}

for (const [sides, expected] of [
  [{ base: { token: { bridge: "hop" } } }, /^chains\[0\]\.tokens\[0\]\.bridge: "hop" is not accepted; give "cctp-v2"/],
  [{ base: { chain: { cctp: true } } }, /^chains\[0\]\.cctp: true is not an object/],
  [{ base: { chain: { cctp: { domian: 6 } } } }, /^chains\[0\]\.cctp\.domian: unknown key; did you mean domain/],
  [{ base: { chain: { cctp: { domain: -1 } } } }, /^chains\[0\]\.cctp\.domain: -1 is not accepted/],
  [{ base: { chain: { cctp: { messenger: "0x1" } } } }, /^chains\[0\]\.cctp\.messenger: "0x1" is not accepted/],
  [{ sepolia: { chain: { ...unknown, cctp: { domain: 1 } } } }, /^chains\[1\]\.cctp\.messenger: missing/],
  [{ base: { chain: { cctp: false } } }, /^chains\[0\]\.tokens\[0\]\.bridge: .* no contracts.*remove cctp: false/],
  [{ sepolia: { chain: unknown } }, /^chains\[1\]\.tokens\[0\]\.bridge: L has no contracts .* give cctp of the chain/],
  [{ base: { token: { address: SEPOLIA_USDC } } }, /^chains\[0\]\.tokens\[0\]\.bridge: .*Circle's USDC, here 0x036cbd/],
  [{ base: { chain: { cctp: { domain: 0 } } } }, /^chains\[1\]\.cctp\.domain: 0 is already the domain of chains\[0\]/],
  [{ sepolia: { token: { decimals: 18 } } }, /^chains\[1\]\.tokens: USDC has 18 decimals, and 6 at chains\[0\]/],
] as const) {
  test(`a mistake in the bridge is named: ${expected.source.slice(1, 60)}`, () => {
    assert.throws(() => load(sides), { name: "ConfigError", message: expected });
  });
}

test("the bridge carries one token of a chain", () => {
  const usdc = { symbol: "USDC", address: BASE_USDC, decimals: 6, bridge: "cctp-v2" };
  const tokens = [usdc, { ...usdc, symbol: "USDT", address: SEPOLIA_USDC }];
  assert.throws(() => load({ base: { chain: { tokens, defaultToken: "USDC" } } }), /tokens\[1\]\.bridge: .* one token/);
});

/** What live payments need beside the chains above. */
const LIVE = {
  environment: "live",
  baseUrl: "https://pay.example",
  database: { url: "postgres://localhost/t" },
  acceptRisks: ["singleProvider"],
};

test("the bridge asks the issuer's service of its environment, and takes a fast crossing up to 500 ppm", () => {
  assert.deepEqual(loadConfig({}).bridge, {
    attestationUrl: "https://iris-api-sandbox.circle.com",
    fastFeePpmMax: 500,
  });
  const { base, sepolia } = { base: { token: { bridge: undefined } }, sepolia: { token: { bridge: undefined } } };
  assert.equal(loadConfig({ base, sepolia }).bridge, undefined, "nothing crosses");
});

test("the bridge's service and the limit of a fast crossing come from the configuration, one of them or both", () => {
  const attestationUrl = "https://proofs.example/iris";
  assert.deepEqual(loadConfig({ top: { bridge: { attestationUrl, fastFeePpmMax: 0 } } }).bridge, {
    attestationUrl,
    fastFeePpmMax: 0,
  });
  assert.equal(loadConfig({ top: { bridge: { attestationUrl } } }).bridge?.fastFeePpmMax, 500);
  assert.equal(loadConfig({ top: { bridge: { fastFeePpmMax: 3_000 } } }).bridge?.fastFeePpmMax, 3_000);
  const own = { attestationUrl: "http://127.0.0.1:9000" };
  assert.equal(loadConfig({ top: { bridge: own } }).bridge?.attestationUrl, own.attestationUrl);
});

test("live payments ask the issuer's live service, and no service without https", () => {
  const address = findCctpV2Chain(8_453)?.usdc;
  const read = (bridge?: object) => {
    const chains = [
      {
        chainId: 8_453,
        rpcUrls: ["https://rpc.example"],
        gasKeyEnv: "GAS_KEY",
        tokens: [{ symbol: "USDC", address, decimals: 6, bridge: "cctp-v2" }],
      },
    ];
    const top = { ...LIVE, defaultRail: "base:usdc", chains, ...(bridge && { bridge }) };
    return loadConfig({ top }).bridge;
  };
  assert.equal(read()?.attestationUrl, "https://iris-api.circle.com");
  assert.throws(() => read({ attestationUrl: "http://proofs.example" }), {
    name: "ConfigError",
    message: /^bridge\.attestationUrl: .*begins with https/,
  });
});

const unbridged = { base: { token: { bridge: undefined } }, sepolia: { token: { bridge: undefined } } };
for (const [given, expected] of [
  [{ top: { bridge: true } }, /^bridge: true is not an object/],
  [{ top: { bridge: { attestationUrl: "iris" } } }, /^bridge\.attestationUrl: "iris" is not accepted/],
  [{ top: { bridge: { attestatonUrl: "https://a.b" } } }, /^bridge\.attestatonUrl: unknown key; did you mean attest/],
  [{ top: { bridge: { fastFeePpmMax: 3_001 } } }, /^bridge\.fastFeePpmMax: 3001 is not accepted/],
  [{ top: { bridge: { fastFeePpmMax: -1 } } }, /^bridge\.fastFeePpmMax: -1 is not accepted/],
  [{ top: { bridge: { fastFeePpmMax: 1.5 } } }, /^bridge\.fastFeePpmMax: 1\.5 is not accepted/],
  [{ ...unbridged, top: { bridge: {} } }, /^bridge: no token crosses by a bridge/],
] as const) {
  test(`a mistake in bridge is named: ${expected.source.slice(1, 60)}`, () => {
    assert.throws(() => loadConfig(given), { name: "ConfigError", message: expected });
  });
}
