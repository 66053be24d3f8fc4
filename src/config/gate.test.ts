import { findSolanaProgram, placeholderProgram } from "@tributary/inbox/solana/program";
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { buildCatalog } from "../catalog/catalog.ts";
import { readConfig } from "./loadConfig.ts";
import { ConfigError } from "./section.ts";

const KEY = `0x${"1a".repeat(32)}`;
const SECRET = "canary-of-the-gate-0123456789-abcdef";
const VARIABLES = {
  TRIBUTARY_GAS_KEY_BASE_SEPOLIA: KEY,
  TRIBUTARY_GAS_KEY_SEPOLIA: KEY,
  TRIBUTARY_GATE_SECRET: SECRET,
};
const MAINNET = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const TESTNET = "4uhcVJyU9pJkvQyS88uRDiswHScCKQY3";
const DEVNET = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const LOCAL = "9".repeat(32);
const MINT = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";

type Json = Record<string, unknown>;

const sample = JSON.parse(readFileSync(new URL("../../config/testnets.json", import.meta.url), "utf8")) as Json & {
  chains: Json[];
};
const folder = mkdtempSync(join(tmpdir(), "tributary-config-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const gate = { url: "https://gate.example/tributary/", secretEnv: "TRIBUTARY_GATE_SECRET" };
const solana = (change: Json = {}): Json => ({
  namespace: "solana",
  reference: DEVNET,
  tokens: [{ symbol: "USDC", mint: MINT, decimals: 6 }],
  ...change,
});
const local = {
  name: "Mine",
  slug: "mine",
  publicRpcUrl: "http://127.0.0.1:8899",
  explorerUrl: "http://127.0.0.1:8899",
};

function load(change: Json) {
  return readConfig({ ...sample, ...change }, { variables: VARIABLES, directory: folder });
}

function withChains(...more: Json[]) {
  return load({ gate, chains: [...sample.chains, ...more] });
}

function loadLive(change: Json, ...more: Json[]) {
  const live = {
    environment: "live",
    baseUrl: "https://pay.example",
    database: { url: "postgres://u@h/d" },
    acceptRisks: ["singleProvider", "burnFeeRecipient"],
  };
  const chains = [{ ...sample.chains[0], chainId: 8453 }, ...more];
  return load({ ...live, defaultRail: "base:usdc", chains, ...change });
}

test("the gate's secret is read from a variable or a file, and printing the configuration hides it", () => {
  const config = load({ gate });
  assert.equal(config.gate?.url, "https://gate.example/tributary");
  assert.equal(config.gate?.timeoutMs, 3_000);
  assert.equal(config.gate?.secret.reveal(), SECRET);
  assert.ok(!JSON.stringify(config.gate).includes(SECRET) && !inspect(config, { depth: 9 }).includes(SECRET));
  writeFileSync(join(folder, "gate.secret"), `${SECRET}\n`);
  const fromFile = load({ gate: { url: gate.url, secretFile: "gate.secret", timeoutMs: 500 } });
  assert.deepEqual([fromFile.gate?.secret.reveal(), fromFile.gate?.timeoutMs], [SECRET, 500]);
  assert.equal(load({}).gate, undefined);
});

test("D27 Solana clusters get their chain ids, and their tokens are origins and no rails", () => {
  const { solanaChains = [], chains, defaultRail } = withChains(solana(), solana({ reference: TESTNET }));
  const own = withChains(solana({ reference: LOCAL, ...local })).solanaChains?.[0];
  const real = loadLive({ gate }, solana({ reference: MAINNET })).solanaChains?.[0];
  assert.deepEqual(
    [...solanaChains, own, real].map((chain) => [chain?.chainId, chain?.slug]),
    [
      [103, "solana-devnet"],
      [102, "solana-testnet"],
      [104, "mine"],
      [101, "solana"],
    ],
  );
  assert.equal(chains.length, 2);
  const { assets } = buildCatalog({ chains, solanaChains, defaultRail });
  const origin = assets.find(({ token }) => token === MINT);
  assert.deepEqual(
    [origin?.railId, origin?.isOrigin, origin?.isRail, origin?.gate, origin?.minimumUnits],
    ["solana-devnet:usdc", true, false, "local", 10_000n],
  );
});

const REJECTED_CONFIGS: [name: string, change: Json, sentence: RegExp][] = [
  ["a remote chain without a gate", { chains: [{ ...sample.chains[0], gate: "remote" }] }, /^gate: missing/],
  ["an unknown kind of gate", { chains: [{ ...sample.chains[0], gate: "both" }] }, /gate: "both".*"local" or "remote"/],
  ["a secret in the file", { gate: { ...gate, secret: SECRET } }, /gate.secret: unknown key/],
  ["two secrets", { gate: { ...gate, secretFile: "x" } }, /gate.secretEnv: name either/],
  ["no secret", { gate: { url: gate.url } }, /gate.secretEnv: name either/],
  ["an unset variable", { gate: { ...gate, secretEnv: "NOT_SET" } }, /variable NOT_SET does not hold a secret/],
  ["a missing file", { gate: { url: gate.url, secretFile: "nowhere" } }, /nowhere cannot be read/],
  ["a short secret", { gate: { ...gate, secretEnv: "PATH" } }, /does not hold a secret of 32/],
  ["no URL", { gate: { secretEnv: gate.secretEnv } }, /gate.url: missing/],
  ["a long time-out", { gate: { ...gate, timeoutMs: 60_000 } }, /gate.timeoutMs: 60000/],
  ["an invalid cluster reference", { chains: [solana({ reference: "devnet" })] }, /chains\[0\].reference: "devnet"/],
  ["a real cluster in a test configuration", { chains: [solana({ reference: MAINNET })] }, /Solana is a real network/],
  ["a private cluster without a name", { chains: [solana({ reference: LOCAL })] }, /chains\[0\].name: missing/],
  [
    "a rail on Solana",
    { chains: [solana({ tokens: [{ symbol: "A", mint: MINT, decimals: 6, isRail: true }] })] },
    /isRail: the service settles only on clusters with rpcUrls/,
  ],
  ["an invalid mint", { chains: [solana({ tokens: [{ symbol: "A", mint: "0x12", decimals: 6 }] })] }, /mint: "0x12"/],
  [
    "one cluster twice",
    { chains: [...sample.chains, solana(), solana({ slug: "b" })] },
    /is already used by chains\[2\]/,
  ],
  ["gas on Solana", { chains: [solana({ gasKeyEnv: "X" })] }, /gasKeyEnv: unknown key/],
];

for (const [name, change, sentence] of REJECTED_CONFIGS) {
  test(`rejected in one sentence: ${name}`, () => {
    assert.throws(
      () => load(change),
      (error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, sentence);
        assert.ok(!error.message.includes(SECRET));
        return true;
      },
    );
  });
}

test("a live gate needs https or a loopback address", () => {
  const at = (url: string) => loadLive({ gate: { ...gate, url } });
  assert.throws(() => at("http://gate.example"), /gate.url: the secret would be sent unencrypted/);
  for (const url of ["https://gate.example", "http://127.0.0.1:9000"]) assert.equal(at(url).gate?.url, url);
});

test("the inbox program of a Solana cluster is read with an rpcUrl, which errors do not quote", () => {
  const rpcUrl = "https://rpc.example/?key=secret";
  const programsOf = (change: Json) => withChains(solana(change)).solanaPrograms;
  assert.deepEqual(programsOf({ rpcUrl, program: MINT }), [
    { caip2: `solana:${DEVNET}`, name: "Solana Devnet", address: MINT, rpcUrl },
  ]);
  // The program of this release is on no public cluster yet.
  assert.equal(findSolanaProgram(DEVNET), placeholderProgram);
  assert.throws(() => programsOf({ rpcUrl }), /program: \w+ stands for a program that is on no public cluster yet/);
  assert.equal(programsOf({}), undefined);
  const privateCluster = { ...local, reference: "1".repeat(32), rpcUrl };
  assert.throws(() => programsOf(privateCluster), /program: missing; give a Solana address/);
  assert.throws(() => programsOf({ program: MINT }), /program: it needs rpcUrl/);
  assert.throws(() => programsOf({ rpcUrl: "key=secret", program: MINT }), /rpcUrl: the value is not accepted/);
});
