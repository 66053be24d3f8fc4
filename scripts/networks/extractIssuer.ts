// Extracts what the issuer of USDC publishes about each chain. Its package is not among the root's dependencies:
// npm ci --ignore-scripts --prefix scripts/networks && npm run extract --prefix scripts/networks

import { readFileSync, writeFileSync } from "node:fs";
import type { IssuerChain, IssuerExtract } from "./issuer.ts";

const PACKAGE = "@circle-fin/bridge-kit";
const FILE = new URL("./issuer.generated.json", import.meta.url);

/** The part of the package's chains that is read here. */
type PublishedChain = {
  chain?: string;
  type: string;
  chainId?: number;
  name: string;
  isTestnet: boolean;
  nativeCurrency: { name: string; symbol: string; decimals: number };
  explorerUrl: string;
  rpcEndpoints: readonly string[];
  usdcAddress: string | null;
  eurcAddress: string | null;
  usdtAddress: string | null;
  cctp?: {
    domain: number;
    contracts: {
      v2?: { tokenMessenger: string; messageTransmitter: string; confirmations: number; fastConfirmations: number };
    };
  };
};

const KINDS = ["evm", "solana"];

async function extractIssuer(): Promise<IssuerExtract> {
  const chains = (await import(`${PACKAGE}/chains`)) as Record<string, PublishedChain | undefined>;
  const file = new URL(`./node_modules/${PACKAGE}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  const kept = Object.values(chains)
    .flatMap((chain) => (chain?.chain === undefined || !KINDS.includes(chain.type) ? [] : [toIssuerChain(chain)]))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  return { package: PACKAGE, version, license: "Apache-2.0", chains: kept };
}

function toIssuerChain(chain: PublishedChain): IssuerChain {
  const v2 = chain.cctp?.contracts.v2;
  return {
    key: chain.chain ?? "",
    kind: chain.type === "solana" ? "solana" : "evm",
    chainId: chain.chainId ?? null,
    name: chain.name,
    isTestnet: chain.isTestnet,
    native: chain.nativeCurrency,
    explorerUrl: chain.explorerUrl,
    rpcUrls: chain.rpcEndpoints,
    usdc: chain.usdcAddress,
    eurc: chain.eurcAddress,
    usdt: chain.usdtAddress,
    cctp:
      v2 === undefined || chain.cctp === undefined
        ? null
        : {
            domain: chain.cctp.domain,
            messenger: v2.tokenMessenger,
            transmitter: v2.messageTransmitter,
            standardBlocks: v2.confirmations,
            fastBlocks: v2.fastConfirmations,
          },
  };
}

writeFileSync(FILE, `${JSON.stringify(await extractIssuer(), undefined, 1)}\n`);
