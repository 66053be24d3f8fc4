import * as viemChains from "viem/chains";
import * as viemTokens from "viem/tokens";
import type { Chain } from "viem";
import { checksumAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import type { Network, NetworkToken } from "../../src/config/networks/network.ts";
import { attestationOf, attestationSources } from "./attestation.ts";
import { findRefusedNetwork } from "../../src/config/networks/refused.ts";
import { FACTS, FINALITY, ROLLUP_TIMES, SECOND_NODES, type Fact } from "./facts.ts";
import { ISSUER, type IssuerChain } from "./issuer.ts";
import { solanaNetworks } from "./solanaNetworks.ts";
import type { SourceKey } from "./sources.ts";

// Joins what the issuer and viem publish with the facts by hand. Pure: the same input gives the same catalogue.

const POLL_MS_DEFAULT = 2_000;
const POLL_MS_FAST = 1_000;
/** Networks without CCTP on which a token settles all the same. */
const EXTRA_IDS = [56];
const USDC_DECIMALS = 6;
const OPERATOR_LABELS = 2;
const FAST_POLICY = FINALITY.secondsThenTag(10, "finalized");
/** Of networks whose gas costs ether: as on the first of them. */
const ROLLUP_GWEI = { live: "10", test: "100" } as const;

const VIEM: readonly Chain[] = Object.values(viemChains);

/** Collects a network's fields with their sources. */
class NetworkBuilder {
  readonly fields: Partial<Network> & Record<string, unknown> = {};
  readonly sources: Record<string, SourceKey> = {};

  set<Key extends keyof Network>(key: Key, fact: Fact<NonNullable<Network[Key]>> | undefined): void {
    if (fact === undefined) return;
    (this.fields as Record<string, unknown>)[key] = fact.value;
    this.sources[key] = fact.source;
  }

  finish(): Network {
    return { ...this.fields, sources: this.sources } as unknown as Network;
  }
}

export function buildNetworks(): Network[] {
  const issued = ISSUER.chains.filter(
    (chain) => chain.kind === "evm" && chain.cctp !== null && findRefusedNetwork(chain.chainId ?? 0) === undefined,
  );
  const evm = [...issued.map((chain) => buildEvm(chain.chainId ?? 0, chain)), ...EXTRA_IDS.map((id) => buildEvm(id))];
  const order = (network: Network) => (network.environment === "live" ? 0 : 1);
  const domain = (network: Network) => network.cctp?.domain ?? Number.MAX_SAFE_INTEGER;
  const sorted = evm.toSorted((one, other) => order(one) - order(other) || domain(one) - domain(other));
  return [...sorted, ...solanaNetworks()];
}

function buildEvm(chainId: number, issuer?: IssuerChain): Network {
  const viem = findViemChain(chainId, issuer);
  const facts = FACTS[chainId] ?? {};
  const builder = new NetworkBuilder();
  const environment = (issuer?.isTestnet ?? viem?.testnet) === true ? "test" : "live";
  const from: SourceKey = issuer === undefined ? "viem" : "issuer";
  const isRollup = viem?.contracts?.["l1Block"] !== undefined;
  const isFast = issuer !== undefined && attestationOf(issuer.key).fastFeeBps !== undefined;
  builder.set("caip2", { value: `eip155:${chainId}`, source: from });
  builder.set("kind", { value: "evm", source: "policy" });
  builder.set("chainId", { value: chainId, source: from });
  builder.set("slug", { value: facts.slug ?? toSlug(issuer?.key ?? viem?.name ?? ""), source: "policy" });
  builder.set("name", {
    value: facts.name ?? (issuer?.name ?? viem?.name ?? "").replace(/ (?:Mainnet|Network)$/, ""),
    source: facts.name === undefined ? from : "policy",
  });
  builder.set("environment", { value: environment, source: from });
  builder.set("native", nativeOf(viem, issuer));
  builder.set("explorerUrl", explorerOf(viem, issuer));
  const urls = rpcUrlsOf(facts.rpcUrls ?? [], { viem, issuer, second: SECOND_NODES[chainId] });
  builder.set("rpcUrls", { value: urls.map(({ value }) => value), source: urls[0]?.source ?? from });
  urls.forEach(({ source }, index) => (builder.sources[`rpcUrls[${index}]`] = source));
  const tokens = tokensOf(chainId, issuer);
  builder.set("tokens", { value: tokens.map(({ value }) => value), source: from });
  for (const { value, source } of tokens) builder.sources[`tokens.${value.symbol}`] = source;
  setCctp(builder, issuer);
  builder.set("blockMs", facts.blockMs ?? fromViem(viem?.blockTime));
  builder.set("safeMs", facts.safeMs ?? (isRollup ? { value: ROLLUP_TIMES.safeMs, source: "policy" } : undefined));
  builder.set("finalizedMs", facts.finalizedMs ?? finalizedOf(isRollup, issuer));
  builder.set("feeUsdMax", facts.feeUsdMax);
  const { blockMs } = builder.fields;
  const pollMs = blockMs !== undefined && blockMs <= POLL_MS_DEFAULT ? POLL_MS_FAST : POLL_MS_DEFAULT;
  builder.set("pollMs", facts.pollMs ?? { value: pollMs, source: "policy" });
  builder.set(
    "finality",
    facts.finality ?? {
      value: isRollup ? FINALITY.rollup : isFast ? FAST_POLICY : FINALITY.finalized,
      source: "policy",
    },
  );
  builder.set("hasForeignBloom", facts.hasForeignBloom);
  const paysEther = builder.fields.native?.symbol === "ETH";
  builder.set(
    "maxFeePerGasGwei",
    facts.maxFeePerGasGwei ?? (paysEther ? { value: ROLLUP_GWEI[environment], source: "policy" } : undefined),
  );
  builder.set("transactionGasMax", facts.transactionGasMax);
  builder.set("usual", facts.usual && { value: facts.usual, source: "usual" });
  builder.set("fork", facts.fork);
  return builder.finish();
}

/**
 * Several of viem's chains may have one id: the one whose coin the issuer names as well, else the first of its kind.
 */
export function findViemChain(chainId: number, issuer?: IssuerChain): Chain | undefined {
  const found = VIEM.filter((chain) => chain.id === chainId);
  const alike = found.filter((chain) => chain.nativeCurrency.symbol === issuer?.native.symbol);
  return alike[0] ?? found.find((chain) => (chain.testnet ?? false) === (issuer?.isTestnet ?? false)) ?? found[0];
}

function fromViem<T>(value: T | undefined): Fact<T> | undefined {
  return value === undefined ? undefined : { value, source: "viem" };
}

function toSlug(key: string): string {
  return key
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

function nativeOf(viem: Chain | undefined, issuer: IssuerChain | undefined): Fact<Network["native"]> | undefined {
  if (viem !== undefined) {
    const { name, symbol, decimals } = viem.nativeCurrency;
    return { value: { name, symbol, decimals }, source: "viem" };
  }
  return issuer && { value: issuer.native, source: "issuer" };
}

/** An explorer must show a transaction at `/tx/<hash>`. */
function explorerOf(viem: Chain | undefined, issuer: IssuerChain | undefined): Fact<string> | undefined {
  const ending = "/tx/{hash}";
  const known = viem?.blockExplorers?.default.url;
  if (known !== undefined) return { value: withoutSlash(known), source: "viem" };
  if (issuer?.explorerUrl.endsWith(ending) !== true) return undefined;
  return { value: issuer.explorerUrl.slice(0, -ending.length), source: "issuer" };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

/** One public node of each operator, because two of one operator are no second opinion. */
function rpcUrlsOf(
  preferred: readonly Fact<string>[],
  { viem, issuer, second }: { viem: Chain | undefined; issuer: IssuerChain | undefined; second: string | undefined },
): Fact<string>[] {
  const issued = (issuer?.rpcUrls ?? []).map((value): Fact<string> => ({ value, source: "issuer" }));
  const known = (viem?.rpcUrls.default.http ?? []).map((value): Fact<string> => ({ value, source: "viem" }));
  const kept = new Map<string, Fact<string>>();
  const other: Fact<string>[] = second === undefined ? [] : [{ value: second, source: "chainlist" }];
  for (const { value, source } of [...preferred, ...issued, ...known, ...other]) {
    const operator = new URL(value).hostname.split(".").slice(-OPERATOR_LABELS).join(".");
    // It asks for a client's id.
    if (operator === "thirdweb.com" || kept.has(operator)) continue;
    kept.set(operator, { value: withoutSlash(value), source });
  }
  return [...kept.values()];
}

function tokensOf(chainId: number, issuer: IssuerChain | undefined): Fact<NetworkToken>[] {
  const issued: [symbol: string, address: string | null | undefined, source: SourceKey][] = [
    ["USDC", issuer?.usdc, "issuer"],
    ["EURC", issuer?.eurc ?? viemTokens.eurc.addresses[chainId as 1], issuer?.eurc ? "issuer" : "viem"],
    ["USDT", issuer?.usdt, "issuer"],
  ];
  return [
    ...issued.flatMap(([symbol, address, source]): Fact<NetworkToken>[] =>
      address ? [{ value: { symbol, address: checksum(address), decimals: USDC_DECIMALS }, source }] : [],
    ),
    ...(FACTS[chainId]?.tokens ?? []).map(({ value, source }) => ({
      value: { ...value, address: checksum(value.address) },
      source,
    })),
  ];
}

function checksum(address: string): string {
  return checksumAddress(address.toLowerCase() as Hex);
}

function setCctp(builder: NetworkBuilder, issuer: IssuerChain | undefined): void {
  if (!issuer?.cctp) return;
  const { domain, messenger, transmitter, fastBlocks, standardBlocks } = issuer.cctp;
  builder.set("cctp", {
    value: {
      domain,
      messenger: checksum(messenger),
      transmitter: checksum(transmitter),
      fastBlocks,
      standardBlocks,
      ...attestationOf(issuer.key),
    },
    source: "issuer",
  });
  for (const [key, source] of attestationSources(issuer.key)) builder.sources[`cctp.${key}`] = source;
}

/** What the issuer waits for is final by its own judgement. */
function finalizedOf(isRollup: boolean, issuer: IssuerChain | undefined): Fact<number> | undefined {
  if (isRollup) return { value: ROLLUP_TIMES.finalizedMs, source: "policy" };
  const most = attestationOf(issuer?.key ?? "").standardSeconds?.[1];
  return most === undefined ? undefined : { value: most * 1_000, source: "times" };
}
