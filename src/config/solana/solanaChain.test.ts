import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { encodeKey, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { placeholderProgram } from "@tributary/inbox/solana/program";
import { buildCatalog } from "../../catalog/catalog.ts";
import { isSolanaChainConfig } from "../config.ts";
import { readConfig } from "../loadConfig.ts";

const DEVNET = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const LOCAL = "LoCaLnet1111111111111111111111111";
const PAIR = createPair();
const FEE_PAYER = encodeKey(PAIR.subarray(32));
const [MINT, OTHER_MINT, PROGRAM, FEE_WALLET] = [0, 1, 2, 3].map(() => encodeKey(createPair().subarray(32))) as [
  string,
  string,
  string,
  string,
];
const usdc = { symbol: "USDC", mint: MINT, decimals: 6 };

type Json = Record<string, unknown>;

const solana = (change: Json = {}): Json => ({
  namespace: "solana",
  reference: DEVNET,
  rpcUrls: ["https://a.example/key", "https://b.example/key"],
  program: PROGRAM,
  feePayerKeyEnv: "FEE_PAYER",
  feeRecipient: FEE_WALLET,
  tokens: [usdc],
  ...change,
});

function load(change: Json = {}, variables: Record<string, string> = {}, directory = "/srv") {
  const config = {
    environment: "test",
    database: { directory: "db" },
    feeRecipient: "0x00000000000000000000000000000000000fee00",
    chains: [solana(change)],
  };
  return readConfig(config, { variables: { FEE_PAYER: encodeBase58(PAIR), ...variables }, directory });
}

function loadChain(...given: Parameters<typeof load>) {
  const [chain] = load(...given).chains;
  assert(chain && isSolanaChainConfig(chain));
  return chain;
}

/** A secret key and its public key, 64 bytes. */
function createPair(): Uint8Array {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]);
}

test("a Solana chain with rpcUrls is watched, and its tokens are origins and rails", () => {
  const config = load();
  const [chain] = config.chains;
  assert(chain && isSolanaChainConfig(chain));
  assert.deepEqual(chain, {
    caip2: `solana:${DEVNET}`,
    chainId: 103,
    name: "Solana Devnet",
    slug: "solana-devnet",
    publicRpcUrl: "https://api.devnet.solana.com",
    explorerUrl: "https://explorer.solana.com",
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    estimates: { blockMs: 400, finalizedMs: 13_000, feeUsdMax: "0.01" },
    rpcUrls: ["https://a.example/key", "https://b.example/key"],
    wsUrls: [],
    pollMs: 1_000,
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    agreement: { providers: 2, abovePriceUnits: 0n },
    settleAfterMs: 60_000,
    settleBatchMax: 8,
    tokens: [
      {
        symbol: "USDC",
        slug: "usdc",
        address: MINT,
        decimals: 6,
        minimumUnits: 10_000n,
        isIssuing: true,
        isOrigin: true,
        isRail: true,
        tokenProgram,
      },
    ],
    defaultToken: "USDC",
    gate: "local",
    program: PROGRAM,
    feePayer: FEE_PAYER,
    feePayerKey: encodeBase58(PAIR),
    feeRecipient: FEE_WALLET,
    computeUnitPriceMax: 1_000_000n,
    priming: { openTotal: 50, openPerAccount: 20, hourlyPerAccount: 60, keepMs: 7_200_000 },
  });
  assert.equal(config.defaultRail, "solana-devnet:usdc");
  assert.deepEqual(config.solanaChains, []);
  assert.deepEqual(config.solanaPrograms, [
    { caip2: chain.caip2, name: chain.name, address: PROGRAM, rpcUrl: "https://a.example/key" },
  ]);
  const [asset] = buildCatalog(config).assets;
  assert.deepEqual([asset?.railId, asset?.isRail, asset?.gate], ["solana-devnet:usdc", true, "local"]);
});

test("each setting of a Solana chain can be given", () => {
  const chain = loadChain({
    wsUrls: ["wss://a.example/key"],
    pollMs: 250,
    agreement: { providers: 1 },
    settleAfterMs: 0,
    settleBatchMax: 4,
    computeUnitPriceMax: "5000",
    gate: "local",
    tokens: [
      { ...usdc, isOrigin: false, isRail: false, isIssuing: false, minimumUnits: "5" },
      { symbol: "EURC", mint: OTHER_MINT, decimals: 6, tokenProgram: token2022Program },
    ],
  });
  assert.deepEqual(
    [chain.wsUrls, chain.pollMs, chain.agreement, chain.settleAfterMs, chain.settleBatchMax, chain.computeUnitPriceMax],
    [["wss://a.example/key"], 250, undefined, 0, 4, 5_000n],
  );
  assert.deepEqual(
    chain.tokens.map((token) => [
      token.isOrigin,
      token.isRail,
      token.isIssuing,
      token.minimumUnits,
      token.tokenProgram,
    ]),
    [
      [false, false, false, 5n, tokenProgram],
      [true, true, true, 10_000n, token2022Program],
    ],
  );
});

test("accounts of inboxes are created within the given limits, or not at all", () => {
  const { priming } = loadChain({ primeAccounts: { openTotal: 10, keepMinutes: 30 } });
  assert.deepEqual(priming, { openTotal: 10, openPerAccount: 20, hourlyPerAccount: 60, keepMs: 1_800_000 });
  assert.equal(loadChain({ primeAccounts: false }).priming, undefined);
  for (const [value, expected] of [
    [true, /primeAccounts: true is not an object/],
    [{ openTotal: 0 }, /primeAccounts\.openTotal: 0 is not accepted; give a whole number from 1 to 200/],
    [{ openTotal: 201 }, /primeAccounts\.openTotal: 201 is not accepted/],
    [{ keepMinutes: 4 }, /primeAccounts\.keepMinutes: 4 is not accepted; give a whole number from 5 to 1440/],
    [{ keepHours: 1 }, /primeAccounts\.keepHours: unknown key/],
  ] as const)
    assert.throws(() => loadChain({ primeAccounts: value }), { message: expected });
});

test("the fee payer's key is base58 or solana-keygen's list, in a variable or a file", () => {
  const list = JSON.stringify([...PAIR]);
  assert.equal(loadChain({}, { FEE_PAYER: list }).feePayerKey, encodeBase58(PAIR));
  const directory = mkdtempSync(join(tmpdir(), "fee-payer-"));
  writeFileSync(join(directory, "payer.json"), `${list}\n`);
  const chain = loadChain({ feePayerKeyEnv: undefined, feePayerKeyFile: "payer.json" }, {}, directory);
  assert.deepEqual([chain.feePayer, chain.feePayerKeyFile], [FEE_PAYER, join(directory, "payer.json")]);
});

const foreign = Buffer.concat([PAIR.subarray(0, 32), createPair().subarray(32)]);
for (const [text, expected] of [
  ["", /feePayerKeyEnv: the environment variable FEE_PAYER is not set/],
  [encodeBase58(PAIR.subarray(0, 32)), /FEE_PAYER does not hold a key pair of 64 bytes/],
  [JSON.stringify([...PAIR, 1]), /FEE_PAYER does not hold a key pair/],
  [JSON.stringify([...PAIR].map((byte) => byte + 256)), /FEE_PAYER does not hold a key pair/],
  [`0x${"1a".repeat(32)}`, /FEE_PAYER does not hold a key pair/],
  [encodeBase58(foreign), /FEE_PAYER holds a public key that does not belong to the secret key/],
] as const) {
  test(`a wrong fee payer's key is refused without quoting it: ${expected.source.slice(0, 40)} (${text.length})`, () => {
    assert.throws(
      () => load({}, { FEE_PAYER: text }),
      (error: Error) => {
        assert.match(error.message, expected);
        assert.ok(text === "" || !error.message.includes(text.slice(0, 20)));
        return error.name === "ConfigError";
      },
    );
  });
}

const feeAccount = deriveTokenAccount(FEE_WALLET, MINT, tokenProgram).address;
for (const [mistake, change, expected] of [
  ["a key in the file", { feePayerKey: "5x" }, /^chains\[0\]\.feePayerKey: a private key does not belong/],
  ["no key", { feePayerKeyEnv: undefined }, /^chains\[0\]\.feePayerKeyEnv: name either/],
  ["two keys", { feePayerKeyFile: "a" }, /^chains\[0\]\.feePayerKeyEnv: name either/],
  ["no fee recipient", { feeRecipient: undefined }, /^chains\[0\]\.feeRecipient: missing; give a Solana address/],
  ["a mint as fee recipient", { feeRecipient: MINT }, /^chains\[0\]\.feeRecipient: this is the mint of USDC/],
  ["a token account as fee recipient", { feeRecipient: feeAccount }, /feeRecipient: this is no wallet/],
  ["the fee payer as fee recipient", { feeRecipient: FEE_PAYER }, /feeRecipient: .* a wallet of its own/],
  ["the program as fee recipient", { feeRecipient: PROGRAM }, /feeRecipient: .* a wallet of its own/],
  ["an EVM fee recipient", { feeRecipient: `0x${"ab".repeat(20)}` }, /feeRecipient: "0xabab.*" is not accepted/],
  ["no URL", { rpcUrls: [] }, /^chains\[0\]\.rpcUrls: \[\] is not accepted/],
  ["a URL of another kind", { rpcUrls: ["wss://a.example"] }, /^chains\[0\]\.rpcUrls\[0\]: the value is not accepted/],
  ["too many providers", { agreement: { providers: 3 } }, /^chains\[0\]\.agreement\.providers: 3 providers cannot/],
  ["the published program's stand-in", { program: placeholderProgram }, /^chains\[0\]\.program: .* stands for/],
  ["a public cluster without a program", { program: undefined }, /^chains\[0\]\.program: .* stands for/],
  ["a private cluster without a name", { reference: LOCAL.slice(0, 32) }, /^chains\[0\]\.name: missing/],
  ["a batch of nine", { settleBatchMax: 9 }, /^chains\[0\]\.settleBatchMax: 9 is not accepted; give .* 1 to 8/],
  ["a price in SOL", { computeUnitPriceMax: "0.1" }, /^chains\[0\]\.computeUnitPriceMax: "0.1" is not accepted/],
  ["a price by mistake", { computeUnitPriceMax: "1000000001" }, /computeUnitPriceMax: "1000000001" is not accepted/],
  ["finality", { finality: [{ confirmations: 1 }] }, /^chains\[0\]\.finality: unknown key/],
  ["rpcUrl beside rpcUrls", { rpcUrl: "https://a.example" }, /^chains\[0\]\.rpcUrl: unknown key; did you mean rpcUrls/],
  ["a gate that is missing", { gate: "remote" }, /^gate: missing, but Solana Devnet has "gate": "remote"/],
  ["an unknown token program", { tokens: [{ ...usdc, tokenProgram: MINT }] }, /tokens\[0\]\.tokenProgram: .*accepted/],
  ["an EVM address as mint", { tokens: [{ ...usdc, mint: "0x12" }] }, /^chains\[0\]\.tokens\[0\]\.mint: "0x12"/],
  ["one mint twice", { tokens: [usdc, { ...usdc, symbol: "B" }] }, /^chains\[0\]\.tokens\[1\]\.mint: .*already used/],
  ["a bridge", { tokens: [{ ...usdc, bridge: "cctp-v2" }] }, /^chains\[0\]\.tokens\[0\]\.bridge: .*only Circle's USDC/],
] as const) {
  test(`a mistake in a Solana chain is named: ${mistake}`, () => {
    assert.throws(() => load(change), { name: "ConfigError", message: expected });
  });
}

test("a token names the powers of its issuer that the operator accepts", () => {
  const accepting = { ...usdc, tokenProgram: token2022Program, acceptedExtensions: ["permanentDelegate", "pausable"] };
  assert.deepEqual(loadChain({ tokens: [accepting] }).tokens[0]?.acceptedExtensions, ["permanentDelegate", "pausable"]);
  assert.equal(loadChain().tokens[0]?.acceptedExtensions, undefined);
  assert.throws(() => load({ tokens: [{ ...usdc, acceptedExtensions: ["transferFee"] }] }), {
    message: /tokens\[0\]\.acceptedExtensions\[0\]: give .*permanentDelegate/,
  });
});
