import { checksumAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import { findChainByName, unknownNetworkMessage } from "../../config/chainName.ts";
import { NETWORKS, type Network } from "../../config/networks/network.ts";
import { REFUSED_NETWORKS, refusalOf } from "../../config/networks/refused.ts";
import { usualUsd } from "../../config/operate/usualCosts.ts";
import * as rules from "../../config/rules.ts";
import { SUPPORT_EXPECTED } from "../../kernel/text/supportAddress.ts";

// The prompts of `tributary init`. Each has an option of the same name. A parser returns the value, or a sentence about
// what is expected.

export type InitSettings = {
  environment: "test" | "live";
  chains: readonly Network[];
  /** Of the inbox program on Solana; undefined: its tokens are only listed. */
  solanaProgram: string | undefined;
  /** Receives the platform fee on Solana. */
  solanaFeeRecipient: string | undefined;
  rpcUrls: ReadonlyMap<string, readonly string[]>;
  baseUrl: string;
  /** Undefined: TRIBUTARY_DATABASE_URL names it. */
  database: { url: string } | { directory: string } | undefined;
  /** By slug, what one native coin costs in US dollars. Absent: unknown, or nothing. */
  nativeUsd: ReadonlyMap<string, string>;
  feeRecipient: string;
  feeBps: number;
  support: string | undefined;
};

export type Parsed<T> = { value: T } | { expected: string };

export type Prompt<Name extends keyof InitSettings> = {
  name: Name;
  option: string;
  /** Placeholder of the value in the help. */
  placeholder: string;
  /** Completes the help and begins the prompt. */
  summary: string;
  /** Absent: always. */
  isAsked?(answers: Partial<InitSettings>): boolean;
  /** What an empty answer means; undefined when there must be an answer. */
  fallback(answers: Partial<InitSettings>): string | undefined;
  parse(text: string, answers: Partial<InitSettings>): Parsed<InitSettings[Name]>;
};

export type AnyPrompt = { [Name in keyof InitSettings]: Prompt<Name> }[keyof InitSettings];

/** Answers that stand for the absence of a value. */
const NONE = "none";
/** The default for test networks, where fees have no value. */
export const BURN_ADDRESS = "0x000000000000000000000000000000000000dEaD";
const TEST_BASE_URL = "http://127.0.0.1:8787";
const FEE_BPS_MAX = 1_000;
const PROVIDERS_MIN = 2;

const environment: Prompt<"environment"> = {
  name: "environment",
  option: "environment",
  placeholder: "test|live",
  summary: "test networks or real ones",
  fallback: () => "test",
  parse: (text) => (text === "test" || text === "live" ? { value: text } : { expected: "test or live" }),
};

const chains: Prompt<"chains"> = {
  name: "chains",
  option: "chains",
  placeholder: "LIST",
  summary: "networks, with commas, such as base,arbitrum,solana; `tributary networks list` shows all",
  fallback: (answers) => (answers.environment === "live" ? "base" : "base-sepolia"),
  parse(text, answers) {
    const offered = listOfferedNetworks(answers.environment);
    const chosen: Network[] = [];
    for (const name of splitList(text)) {
      const network = findChainByName(offered, name);
      if (network === undefined)
        return { expected: `networks of the catalogue. ${explainName(name, offered, answers)}` };
      if (!chosen.includes(network)) chosen.push(network);
    }
    return chosen.length > 0 ? { value: chosen } : { expected: "at least one network" };
  },
};

/** Why a name is none of the offered networks. */
function explainName(name: string, offered: readonly Network[], { environment }: Partial<InitSettings>): string {
  const refused = REFUSED_NETWORKS.find(({ slug, chainId }) => slug === name.toLowerCase() || String(chainId) === name);
  if (refused !== undefined) return refusalOf(refused);
  const other = findChainByName(NETWORKS, name);
  if (other === undefined || offered.includes(other)) return unknownNetworkMessage(offered, name);
  const kind = other.environment === "test" ? "a test network" : "a real network";
  return `${other.name} is ${kind}, and the environment is ${environment}.`;
}

const hasSolana = ({ chains = [] }: Partial<InitSettings>) => chains.some(({ kind }) => kind === "solana");

const solanaProgram: Prompt<"solanaProgram"> = {
  name: "solanaProgram",
  option: "solana-program",
  placeholder: "ADDRESS",
  summary: `your inbox program on Solana, from \`tributary hub deploy --rpc\`, or ${NONE}: Solana is then only listed`,
  isAsked: hasSolana,
  fallback: () => NONE,
  parse: (text) => (text === NONE ? { value: undefined } : parseSolana(text)),
};

const solanaFeeRecipient: Prompt<"solanaFeeRecipient"> = {
  name: "solanaFeeRecipient",
  option: "solana-fee-recipient",
  placeholder: "ADDRESS",
  summary: "your wallet that receives the platform fee on Solana",
  isAsked: (answers) => hasSolana(answers) && answers.solanaProgram !== undefined,
  fallback: () => undefined,
  parse: parseSolana,
};

function parseSolana(text: string): Parsed<string> {
  const address = rules.solanaAddress.parse(text);
  return address === undefined ? { expected: rules.solanaAddress.expected } : { value: address };
}

const rpcUrls: Prompt<"rpcUrls"> = {
  name: "rpcUrls",
  option: "rpc-urls",
  placeholder: "LIST",
  summary: "JSON-RPC URLs, such as base=https://one.example/${ONE_KEY}: ${…} names a variable that holds the key",
  fallback(answers) {
    const least = providersMin(answers);
    const networks = listWatched(answers);
    // Public nodes are an answer where there are enough of them.
    if (networks.some(({ rpcUrls: urls }) => urls.length < least)) return undefined;
    return networks
      .flatMap(({ slug, rpcUrls: urls }) => urls.slice(0, PROVIDERS_MIN).map((url) => `${slug}=${url}`))
      .join(",");
  },
  parse(text, answers) {
    const networks = listWatched(answers);
    const urls = new Map<string, string[]>(networks.map(({ slug }) => [slug, []]));
    for (const entry of splitList(text)) {
      // With one network, its name says nothing.
      const [, slug = networks.length === 1 ? networks[0]?.slug : undefined, url = entry] =
        /^([a-z0-9-]+)=(.+)$/.exec(entry) ?? [];
      const list = slug === undefined ? undefined : urls.get(slug);
      if (list === undefined || rules.webUrl.parse(withoutVariables(url)) === undefined)
        return { expected: "entries of the form CHAIN=URL, with chains of --chains" };
      list.push(url);
    }
    const hostsMin = providersMin(answers);
    const hostOf = (url: string) => new URL(withoutVariables(url)).hostname;
    const short = [...urls].find(([, list]) => new Set(list.map(hostOf)).size < hostsMin);
    if (short === undefined) return { value: urls };
    return {
      expected:
        hostsMin === 1
          ? `a URL of ${short[0]}`
          : `URLs of ${hostsMin} hosts for ${short[0]}, because one provider alone would decide which deposits count`,
    };
  },
};

function providersMin({ environment }: Partial<InitSettings>): number {
  return environment === "live" ? PROVIDERS_MIN : 1;
}

/** A URL with a word for each variable that holds a key. */
function withoutVariables(url: string): string {
  return url.replaceAll(/\$\{[A-Z_][A-Z0-9_]*\}/g, "key");
}

const baseUrl: Prompt<"baseUrl"> = {
  name: "baseUrl",
  option: "base-url",
  placeholder: "URL",
  summary: "the address at which payers and merchants reach this service",
  fallback: ({ environment }) => (environment === "live" ? undefined : TEST_BASE_URL),
  parse(text, { environment }) {
    const url = rules.baseUrl.parse(text);
    if (url !== undefined && (environment === "test" || url.startsWith("https://"))) return { value: url };
    return {
      expected: environment === "test" ? rules.baseUrl.expected : "a URL that begins with https://, without a query",
    };
  },
};

const database: Prompt<"database"> = {
  name: "database",
  option: "database",
  placeholder: "URL|FOLDER",
  summary: `a PostgreSQL URL without a password, a folder for the embedded one, or ${NONE}: TRIBUTARY_DATABASE_URL`,
  fallback: ({ environment }) => (environment === "live" ? NONE : "tributary-data"),
  parse(text, { environment }) {
    if (text === NONE) return { value: undefined };
    if (rules.postgresUrl.parse(text) !== undefined) {
      return hasPassword(text)
        ? { expected: `a URL without a password, or ${NONE} and the URL in TRIBUTARY_DATABASE_URL` }
        : { value: { url: text } };
    }
    if (environment === "live" || rules.path.parse(text) === undefined || text.includes("://")) {
      return {
        expected:
          environment === "live"
            ? `a URL such as postgres://tributary@host/tributary, or ${NONE}`
            : "a postgres:// URL or a folder",
      };
    }
    return { value: { directory: text } };
  },
};

const nativeUsd: Prompt<"nativeUsd"> = {
  name: "nativeUsd",
  option: "usd",
  placeholder: "LIST",
  summary: `what a coin that pays gas costs in US dollars, such as ETH=3000, or ${NONE}; minimums follow from it`,
  fallback({ chains = [] }) {
    const known = chains.flatMap(({ native, chainId, kind }) => {
      const usd = kind === "evm" ? usualUsd(chainId) : undefined;
      return usd === undefined ? [] : [`${native.symbol}=${usd}`];
    });
    return [...new Set(known)].join() || NONE;
  },
  parse(text, { chains = [] }) {
    const prices = new Map<string, string>();
    for (const entry of text === NONE ? [] : splitList(text)) {
      const [, name = "", usd = ""] = /^([A-Za-z0-9-]+)=(.+)$/.exec(entry) ?? [];
      const named = chains.filter(({ slug, native }) => slug === name || native.symbol === name.toUpperCase());
      if (named.length === 0 || rules.usdAmount.parse(usd) === undefined)
        return { expected: `entries such as ETH=3000 or base=3000, with coins or chains of --chains, or ${NONE}` };
      for (const { slug } of named) prices.set(slug, usd);
    }
    return { value: prices };
  },
};

const feeRecipient: Prompt<"feeRecipient"> = {
  name: "feeRecipient",
  option: "fee-recipient",
  placeholder: "ADDRESS",
  summary: "your wallet that receives the platform fee on every EVM chain",
  fallback: ({ environment }) => (environment === "live" ? undefined : BURN_ADDRESS),
  parse(text) {
    const address = rules.evmAddress.parse(text);
    return address === undefined ? { expected: rules.evmAddress.expected } : { value: checksumAddress(address as Hex) };
  },
};

const feeBps: Prompt<"feeBps"> = {
  name: "feeBps",
  option: "fee-bps",
  placeholder: "NUMBER",
  summary: `the platform fee of new accounts in hundredths of a percent, 0 to ${FEE_BPS_MAX}`,
  fallback: () => "0",
  parse(text) {
    const bps = /^\d{1,4}$/.test(text) ? Number(text) : FEE_BPS_MAX + 1;
    return bps <= FEE_BPS_MAX ? { value: bps } : { expected: `a whole number from 0 to ${FEE_BPS_MAX}` };
  },
};

const support: Prompt<"support"> = {
  name: "support",
  option: "support",
  placeholder: "ADDRESS",
  summary: `whom payers ask: an https URL, a mail address, or ${NONE}`,
  fallback: () => NONE,
  parse(text) {
    if (text === NONE) return { value: undefined };
    return rules.supportAddress.parse(text) === undefined
      ? { expected: `${SUPPORT_EXPECTED}, or ${NONE}` }
      : { value: text };
  },
};

/** In this order, because later prompts depend on earlier answers. */
export const PROMPTS: readonly AnyPrompt[] = [
  environment,
  chains,
  solanaProgram,
  solanaFeeRecipient,
  rpcUrls,
  baseUrl,
  database,
  nativeUsd,
  feeRecipient,
  feeBps,
  support,
];

function listOfferedNetworks(environment: "test" | "live" | undefined): Network[] {
  const wanted = environment === "live" ? "live" : "test";
  return NETWORKS.filter((network) => network.environment === wanted && network.tokens.length > 0);
}

/** The chosen networks that the service reads; the others are only listed. */
export function listWatched({ chains = [], solanaProgram: program }: Partial<InitSettings>): Network[] {
  return chains.filter(({ kind }) => kind === "evm" || program !== undefined);
}

/** The variable that holds the key that pays gas on a network. */
export function gasKeyVariable({ slug, kind }: Pick<Network, "slug" | "kind">): string {
  const name = kind === "evm" ? "GAS_KEY" : "FEE_PAYER";
  return `TRIBUTARY_${name}_${slug.toUpperCase().replaceAll("-", "_")}`;
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** A URL that does not parse names a socket, whose password is a parameter. */
function hasPassword(url: string): boolean {
  return (URL.parse(url)?.password ?? "") !== "" || /[?&]password=/.test(url);
}
