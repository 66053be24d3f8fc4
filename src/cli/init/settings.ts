import { checksumAddress } from "@tributary/inbox/checksum";
import { findCctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import type { Hex } from "@tributary/inbox/terms";
import { findChainByName, unknownChainMessage } from "../../config/chainName.ts";
import { listKnownChains, type ListedChain } from "../../config/knownChains.ts";
import { SUPPORT_EXPECTED } from "../../kernel/text/supportAddress.ts";
import { usualUsd } from "../../config/operate/usualCosts.ts";
import * as rules from "../../config/rules.ts";

// The prompts of `tributary init`. Each has an option of the same name. A parser returns the value, or a sentence about
// what is expected.

/** A chain of the file, with the USDC that Circle issues there. */
export type InitChain = ListedChain & { usdc: string };

export type InitSettings = {
  environment: "test" | "live";
  chains: readonly InitChain[];
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
  summary: `chains, with commas: ${slugsOf("live")}; to test ${slugsOf("test")}`,
  fallback: (answers) => (answers.environment === "live" ? "base" : "base-sepolia"),
  parse(text, answers) {
    const offered = listOfferedChains(answers.environment);
    const chosen: InitChain[] = [];
    for (const name of splitList(text)) {
      const chain = findChainByName(offered, name);
      if (chain === undefined)
        return {
          expected: `chains of ${offered.map(({ slug }) => slug).join(", ")}. ${unknownChainMessage(offered, name)}`,
        };
      if (!chosen.includes(chain)) chosen.push(chain);
    }
    return chosen.length > 0 ? { value: chosen } : { expected: "at least one chain" };
  },
};

const rpcUrls: Prompt<"rpcUrls"> = {
  name: "rpcUrls",
  option: "rpc-urls",
  placeholder: "LIST",
  summary: "JSON-RPC URLs with their chains, such as base=https://one.example; no names for a single chain",
  fallback: ({ environment, chains = [] }) =>
    environment === "live" ? undefined : chains.map(({ slug, publicRpcUrl }) => `${slug}=${publicRpcUrl}`).join(","),
  parse(text, { environment, chains = [] }) {
    const urls = new Map<string, string[]>(chains.map(({ slug }) => [slug, []]));
    for (const entry of splitList(text)) {
      // With one chain, its name says nothing.
      const [, slug = chains.length === 1 ? chains[0]?.slug : undefined, url = entry] =
        /^([a-z0-9-]+)=(.+)$/.exec(entry) ?? [];
      const list = slug === undefined ? undefined : urls.get(slug);
      if (list === undefined || rules.webUrl.parse(url) === undefined)
        return { expected: "entries of the form CHAIN=URL, with chains of --chains" };
      list.push(url);
    }
    const hostsMin = environment === "live" ? PROVIDERS_MIN : 1;
    const short = [...urls].find(([, list]) => new Set(list.map((url) => new URL(url).hostname)).size < hostsMin);
    if (short === undefined) return { value: urls };
    return {
      expected:
        hostsMin === 1
          ? `a URL of ${short[0]}`
          : `URLs of ${hostsMin} hosts for ${short[0]}, because one provider alone would decide which deposits count`,
    };
  },
};

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
  option: "native-usd",
  placeholder: "LIST",
  summary: `what one coin that pays gas costs in US dollars, such as base=3000,polygon=0.25, or ${NONE}; minimums follow from it`,
  fallback: ({ chains = [] }) =>
    chains
      .flatMap(({ slug, chainId }) => [usualUsd(chainId)].flatMap((usd) => (usd ? [`${slug}=${usd}`] : [])))
      .join() || NONE,
  parse(text, { chains = [] }) {
    const prices = new Map<string, string>();
    for (const entry of text === NONE ? [] : splitList(text)) {
      const [, slug = "", usd = ""] = /^([a-z0-9-]+)=(.+)$/.exec(entry) ?? [];
      if (!chains.some((chain) => chain.slug === slug) || rules.usdAmount.parse(usd) === undefined)
        return { expected: `entries of the form CHAIN=DOLLARS, with chains of --chains, or ${NONE}` };
      prices.set(slug, usd);
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
  rpcUrls,
  baseUrl,
  database,
  nativeUsd,
  feeRecipient,
  feeBps,
  support,
];

/** The known networks of an environment on which Circle issues USDC. */
function listOfferedChains(environment: "test" | "live" | undefined): InitChain[] {
  return listKnownChains().flatMap((chain) => {
    const usdc = findCctpV2Chain(chain.chainId)?.usdc;
    const isOffered = chain.isTestnet === (environment !== "live");
    return usdc !== undefined && isOffered ? [{ ...chain, usdc: checksumAddress(usdc) }] : [];
  });
}

function slugsOf(environment: "test" | "live"): string {
  return listOfferedChains(environment)
    .map(({ slug }) => slug)
    .join(", ");
}

/** The variable that holds the gas key of a chain. */
export function gasKeyVariable({ slug }: Pick<InitChain, "slug">): string {
  return `TRIBUTARY_GAS_KEY_${slug.toUpperCase().replaceAll("-", "_")}`;
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
