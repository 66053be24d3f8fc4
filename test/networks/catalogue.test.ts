import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { cctpV2Chains, findSolanaUsdc, solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { checksumAddress } from "@tributary/inbox/checksum";
import { parseKey } from "@tributary/inbox/solana/keys";
import type { Hex } from "@tributary/inbox/terms";
import { Ajv } from "ajv";
import * as viemTokens from "viem/tokens";
import { findViemChain } from "../../scripts/networks/buildNetworks.ts";
import { ISSUER, type IssuerChain } from "../../scripts/networks/issuer.ts";
import { renderFiles } from "../../scripts/networks/writeNetworks.ts";
import { NETWORK_SOURCES, NETWORKS, type Network } from "../../src/config/networks/network.ts";
import { findRefusedNetwork } from "../../src/config/networks/refused.ts";
import { findKnownChain } from "../../src/config/knownChains.ts";
import { networkSchema } from "./networkSchema.ts";

const ROOT = new URL("../..", import.meta.url);
const EVM = NETWORKS.filter(({ kind }) => kind === "evm");
const read = (path: string) => readFileSync(fileURLToPath(new URL(path, ROOT)), "utf8");
const tokenOf = ({ tokens }: Network, symbol: string) => tokens.find((token) => token.symbol === symbol)?.address;
const lower = (address: string | null | undefined) => address?.toLowerCase();

test("the generator gives the same bytes twice, which are those of the checked-in files", () => {
  const [first, second] = [renderFiles(), renderFiles()];
  assert.deepEqual([...first.keys()], [...second.keys()]);
  for (const [path, content] of first) {
    assert.equal(second.get(path), content, path);
    assert.ok(read(path) === content, `${path} is old: node scripts/networks/writeNetworks.ts`);
  }
});

test("every network has the fields of its schema, and every field a source with a date", () => {
  const validate = new Ajv({ allErrors: true }).compile(networkSchema);
  for (const network of NETWORKS) {
    assert.ok(validate(network), `${network.slug}: ${JSON.stringify(validate.errors)}`);
    for (const field of Object.keys(network).filter((key) => key !== "sources"))
      assert.ok(network.sources[field], `${network.slug}: ${field} has no source`);
    for (const [field, key] of Object.entries(network.sources))
      assert.match(NETWORK_SOURCES[key]?.date ?? "", /^\d{4}-\d\d-\d\d$/, `${network.slug}: ${field}`);
  }
});

test("names, ids and domains are unique, and addresses are written with their checksum", () => {
  for (const key of ["slug", "name", "caip2", "chainId"] as const)
    assert.equal(new Set(NETWORKS.map((network) => network[key])).size, NETWORKS.length, key);
  const domains = NETWORKS.flatMap(({ cctp, environment }) => (cctp ? [`${environment} ${cctp.domain}`] : []));
  assert.equal(new Set(domains).size, domains.length);
  for (const { kind, slug, tokens, cctp } of NETWORKS)
    for (const address of [
      ...tokens.map((token) => token.address),
      ...(cctp ? [cctp.messenger, cctp.transmitter] : []),
    ])
      if (kind === "evm") assert.equal(checksumAddress(address.toLowerCase() as Hex), address, slug);
      else assert.ok(parseKey(address), slug);
});

test("every chain of the issuer's table with CCTP is in the catalogue, but those that are refused", () => {
  const served = ISSUER.chains.filter(
    ({ cctp, chainId }) => cctp !== null && findRefusedNetwork(chainId ?? 0) === undefined,
  );
  assert.equal(served.length, 50);
  for (const chain of served) {
    const network = NETWORKS.find((each) => isOf(each, chain)) ?? assert.fail(`${chain.key} is missing`);
    assert.equal(network.environment, chain.isTestnet ? "test" : "live", chain.key);
    const { domain, messenger, transmitter, fastBlocks, standardBlocks } = network.cctp ?? assert.fail(chain.key);
    assert.deepEqual(
      { domain, messenger: lower(messenger), transmitter: lower(transmitter), fastBlocks, standardBlocks },
      { ...chain.cctp, messenger: lower(chain.cctp?.messenger), transmitter: lower(chain.cctp?.transmitter) },
      chain.key,
    );
    for (const [symbol, address] of [
      ["USDC", chain.usdc],
      ["EURC", chain.eurc],
      ["USDT", chain.usdt],
    ] as const)
      if (address !== null) assert.equal(lower(tokenOf(network, symbol)), lower(address), `${chain.key} ${symbol}`);
  }
});

test("every network with CCTP is in the issuer's table", () => {
  for (const network of NETWORKS.filter(({ cctp }) => cctp !== undefined))
    assert.ok(
      ISSUER.chains.some((chain) => isOf(network, chain)),
      network.slug,
    );
  const withoutCctp = NETWORKS.filter(({ cctp }) => cctp === undefined).map(({ slug }) => slug);
  assert.deepEqual(withoutCctp, ["bnb", "solana-testnet"]);
});

function isOf({ kind, chainId, slug }: Network, chain: IssuerChain): boolean {
  if (chain.kind !== kind) return false;
  return kind === "evm"
    ? chain.chainId === chainId
    : chain.isTestnet === (slug === "solana-devnet") && slug !== "solana-testnet";
}

/** What viem does not know, and where the issuer names another coin than viem: the chain's own documents say ether. */
const UNKNOWN_TO_VIEM = ["edge", "edge-testnet", "morph-testnet", "pharos", "pharos-testnet", "sonic-testnet"];
const OTHER_COIN = ["unichain", "unichain-sepolia"];

test("viem knows each network with the same coin and the same tokens, but those that are named here", () => {
  const chainOf = (network: Network) => ISSUER.chains.find((chain) => isOf(network, chain));
  const unknown = EVM.filter((network) => findViemChain(network.chainId, chainOf(network)) === undefined);
  assert.deepEqual(unknown.map(({ slug }) => slug).toSorted(), UNKNOWN_TO_VIEM);
  const otherCoin = EVM.filter(
    (network) => (chainOf(network)?.native.symbol ?? network.native.symbol) !== network.native.symbol,
  );
  assert.deepEqual(otherCoin.map(({ slug }) => slug).toSorted(), OTHER_COIN);
  for (const network of EVM) {
    const viem = findViemChain(network.chainId, chainOf(network));
    if (viem !== undefined) assert.deepEqual(viem.nativeCurrency.decimals, network.native.decimals, network.slug);
  }
  for (const { symbol, addresses, decimals } of [viemTokens.usdc, viemTokens.eurc])
    for (const [chainId, address] of Object.entries(addresses)) {
      const network = EVM.find((each) => each.chainId === Number(chainId));
      if (network?.cctp === undefined) continue;
      const token = network.tokens.find((each) => each.symbol === symbol);
      assert.deepEqual(
        [lower(token?.address), token?.decimals],
        [lower(address), decimals],
        `${network.slug} ${symbol}`,
      );
    }
});

test("the extract is of the version that the package folder pins", () => {
  const { dependencies } = JSON.parse(read("scripts/networks/package.json")) as {
    dependencies: Record<string, string>;
  };
  assert.equal(dependencies[ISSUER.package], ISSUER.version);
});

test("the package of inboxes and the configuration have the catalogue's values", () => {
  assert.equal(cctpV2Chains.length, EVM.filter(({ cctp }) => cctp !== undefined).length);
  for (const network of EVM) {
    const known = findKnownChain(network.chainId) ?? assert.fail(network.slug);
    assert.deepEqual(
      [known.slug, known.name, known.isTestnet],
      [network.slug, network.name, network.environment === "test"],
    );
    const chain = cctpV2Chains.find(({ chainId }) => chainId === BigInt(network.chainId));
    assert.deepEqual(
      chain && [chain.domain, chain.messenger, chain.transmitter, chain.usdc],
      network.cctp && [
        network.cctp.domain,
        lower(network.cctp.messenger),
        lower(network.cctp.transmitter),
        lower(tokenOf(network, "USDC")),
      ],
      network.slug,
    );
  }
  for (const network of NETWORKS.filter(({ kind, cctp }) => kind === "solana" && cctp !== undefined)) {
    assert.equal(network.cctp?.domain, solanaCctpDomain);
    assert.equal(findSolanaUsdc(network.caip2.slice("solana:".length)), tokenOf(network, "USDC"));
  }
});

test("one network has contracts of its own, and test networks share theirs", () => {
  const own = NETWORKS.filter(({ kind, environment }) => kind === "evm" && environment === "live").filter(
    ({ cctp }) => cctp !== undefined && lower(cctp.messenger) !== cctpV2Chains[0]?.messenger,
  );
  assert.deepEqual(
    own.map(({ slug }) => slug),
    ["edge"],
  );
});
