import type { Network } from "../../src/config/networks/network.ts";
import { SOURCES } from "./sources.ts";

// The files that come from the catalogue.

export function renderCatalogue(networks: readonly Network[]): string {
  const rows = networks.map((network) => ` ${JSON.stringify(network)}`);
  return `{\n"sources": ${JSON.stringify(SOURCES, undefined, 1)},\n"networks": [\n${rows.join(",\n")}\n]\n}\n`;
}

/** The issuer's contracts for the package of inboxes, which stands alone. */
export function renderCctpChains(networks: readonly Network[]): string {
  const evm = networks.filter(({ kind, cctp }) => kind === "evm" && cctp !== undefined);
  const clusters = networks.filter(({ kind, cctp }) => kind === "solana" && cctp !== undefined);
  const pairs = [...new Set(evm.map(pairOf))];
  const rows = evm.map((network) => {
    const { chainId, cctp, tokens } = network;
    return `  { chainId: ${chainId}n, domain: ${cctp?.domain}, usdc: "${usdcOf(tokens).toLowerCase()}", ...pair${pairs.indexOf(pairOf(network))} },`;
  });
  return `// Written by scripts/networks/writeNetworks.ts; do not edit.

${pairs
  .map((pair, index) => {
    const [messenger = "", transmitter = ""] = pair.split(" ");
    return `const pair${index} = {\n  messenger: "${messenger}",\n  transmitter: "${transmitter}",\n} as const;`;
  })
  .join("\n")}

export const publishedChains = [
${rows.join("\n")}
] as const;

/** By the CAIP-2 reference of the cluster. */
export const solanaUsdc: Readonly<Record<string, string>> = {
${clusters.map(({ caip2, tokens }) => `  "${caip2.slice("solana:".length)}": "${usdcOf(tokens)}",`).join("\n")}
};
`;
}

function pairOf({ cctp }: Network): string {
  return `${cctp?.messenger.toLowerCase()} ${cctp?.transmitter.toLowerCase()}`;
}

function usdcOf(tokens: Network["tokens"]): string {
  return tokens.find(({ symbol }) => symbol === "USDC")?.address ?? "";
}

/** The sample for two test networks. */
export function renderTestnets(networks: readonly Network[]): string {
  const chains = ["base-sepolia", "sepolia"].map((slug) => {
    const network = networks.find((each) => each.slug === slug);
    return {
      chainId: network?.chainId,
      rpcUrls: network?.rpcUrls.slice(0, 2),
      gasKeyEnv: `TRIBUTARY_GAS_KEY_${slug.toUpperCase().replaceAll("-", "_")}`,
      tokens: network?.tokens
        .filter(({ symbol }) => symbol === "USDC")
        .map((token) => ({ ...token, minimumUnits: "10000" })),
    };
  });
  const sample = {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 8787 },
    database: { directory: "../.tributary/testnets" },
    feeRecipient: "0x000000000000000000000000000000000000dEaD",
    feeBps: 50,
    defaultRail: "base-sepolia:usdc",
    chains,
  };
  // As the formatter writes it: short lists and objects in one line.
  return `${JSON.stringify(sample, undefined, 2)
    .replaceAll(/\[\n\s+("[^\]{]*")\n\s+\]/g, (_, list: string) => `[${list.replaceAll(/\n\s+/g, " ")}]`)
    .replaceAll(
      /"(listen|database)": \{\n\s+([^}]*?)\n\s+\}/g,
      (_, key: string, body: string) => `"${key}": { ${body.replaceAll(/\n\s+/g, " ")} }`,
    )}\n`;
}
