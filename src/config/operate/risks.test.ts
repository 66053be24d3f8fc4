import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readConfig } from "../loadConfig.ts";

const folder = mkdtempSync(join(tmpdir(), "tributary-risks-"));
after(() => rmSync(folder, { recursive: true }));
const keyFile = join(folder, "gas.key");
writeFileSync(keyFile, `0x${"1a".repeat(32)}`);

function load(chain: object, more: object = {}) {
  const tokens = [{ symbol: "USDC", address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6 }];
  const rpcUrls = ["https://one.example", "https://two.example"];
  const config = {
    environment: "live",
    baseUrl: "https://pay.example",
    database: { url: "postgres://u@h/d" },
    feeRecipient: "0x00000000000000000000000000000000000f00d5",
    chains: [{ chainId: 8453, rpcUrls, gasKeyFile: "gas.key", tokens, ...chain }],
    ...more,
  };
  return readConfig(config, { variables: {}, directory: folder });
}

const ONE = { rpcUrls: ["https://one.example/a", "https://one.example/b"] };
const HTTP = { rpcUrls: ["https://one.example", "http://two.example"] };
const BURNED = { feeRecipient: "0x000000000000000000000000000000000000dEaD" };

test("live refuses unsafe settings, unless each is accepted by its name", () => {
  chmodSync(keyFile, 0o600);
  assert.equal(load({}).environment, "live");
  assert.throws(
    () => load(ONE),
    /^ConfigError: chains\[0\]\.rpcUrls: one provider .* "acceptRisks": \["singleProvider"\]/,
  );
  assert.throws(() => load(HTTP), /^ConfigError: chains\[0\]\.rpcUrls\[1\]: anyone on the way/);
  assert.throws(() => load({}, BURNED), /^ConfigError: feeRecipient: nobody has the key/);
  chmodSync(keyFile, 0o644);
  assert.throws(() => load({}), /^ConfigError: chains\[0\]\.gasKeyFile: other users .* chmod 600/);
  const acceptRisks = ["readableKeyFile", "singleProvider", "unencryptedRpc", "burnFeeRecipient"];
  for (const chain of [{}, ONE, HTTP]) assert.equal(load(chain, { ...BURNED, acceptRisks }).environment, "live");
  assert.throws(() => load({}, { acceptRisks: ["singleProvder"] }), /acceptRisks\[0\]: .* did you mean singleProvider/);
});

test("a loopback node needs no encryption", () => {
  chmodSync(keyFile, 0o600);
  assert.equal(load({ rpcUrls: ["http://127.0.0.1:8545", "https://two.example"] }).chains.length, 1);
});
