import { usualMinimums } from "../../config/operate/usualCosts.ts";
import type { Network, NetworkToken } from "../../config/networks/network.ts";
import { BURN_ADDRESS, gasKeyVariable, listWatched, type InitSettings } from "./settings.ts";

const COMMENT_COLUMNS = 110;
const PORT_DEFAULT = 8_787;

/** The configuration file, with the reason of each key and the keys that many operators add. */
export function renderConfig(settings: InitSettings): string {
  return `${[
    ...comment(
      "Configuration of Tributary, written by `tributary init`. docs/operate/configuration.md explains every key. Lines that begin with // are comments. The file names variables that hold secrets. A URL in rpcUrls may contain the key of your provider, so keep the file private.",
    ),
    "{",
    ...indent([
      ...comment(`"live" takes real money, "test" only public test networks. It is part of every API key.`),
      field("environment", settings.environment),
      "",
      ...comment(
        "The address at which payers and merchants reach this service. Links begin with it. A proxy that terminates TLS stands in front: docs/operate/proxy.md.",
      ),
      field("baseUrl", settings.baseUrl),
      field("listen", { host: "127.0.0.1", port: portOf(settings.baseUrl) }),
      `// "trustedProxies": ["127.0.0.1"],`,
      "",
      ...renderDatabase(settings),
      "",
      ...comment(
        "Receives the platform fee on every EVM chain. An intent pins the fee of its account, so a change is for new intents only.",
      ),
      ...(settings.feeRecipient === BURN_ADDRESS
        ? comment("Nobody has the key of this address: give your wallet.")
        : []),
      field("feeRecipient", settings.feeRecipient),
      field("feeBps", settings.feeBps),
      "",
      ...comment("Where merchants without a choice of their own are paid: <chain>:<token>."),
      field("defaultRail", defaultRail(settings)),
      "",
      ...comment("Whom payers ask, unless their merchant names somebody: an https URL or a mail address."),
      settings.support === undefined ? `// "support": "help@example.com",` : field("support", settings.support),
      "",
      ...comment(
        "Who is informed when a person must act: docs/operate/alarms.md. Metrics for Prometheus: docs/operate/metrics.md.",
      ),
      `// "alarms": { "webhookUrl": "https://hooks.example/…", "command": ["/usr/local/bin/page-operator"] },`,
      `// "metrics": { "port": 9464 },`,
      "",
      field("logLevel", "info"),
      "",
      `"chains": [`,
      ...indent(
        settings.chains.flatMap((chain, index) =>
          renderChain(chain, { settings, isLast: index === settings.chains.length - 1 }),
        ),
      ),
      "]",
    ]),
    "}",
  ].join("\n")}\n`;
}

function renderDatabase({ database, environment }: InitSettings): string[] {
  if (database === undefined)
    return comment(
      "The variable TRIBUTARY_DATABASE_URL names the PostgreSQL, version 15 or newer, because its URL holds a password.",
    );
  const hint =
    "url" in database
      ? "A PostgreSQL, version 15 or newer. The variable TRIBUTARY_DATABASE_URL overrides it, for a URL with a password."
      : `The embedded database, which is for development${environment === "test" ? "" : " only"}. Set TRIBUTARY_DATABASE_URL for a PostgreSQL.`;
  return [...comment(hint), field("database", database)];
}

/** The first token of the first network on which the service settles. */
function defaultRail(settings: InitSettings): string {
  const [first] = listWatched(settings);
  return `${first?.slug}:${first?.tokens[0]?.symbol.toLowerCase()}`;
}

type ChainContext = { settings: InitSettings; isLast: boolean };

function renderChain(network: Network, { settings, isLast }: ChainContext): string[] {
  const lines =
    network.kind === "evm"
      ? renderEvm(network, settings)
      : settings.solanaProgram === undefined
        ? renderListedCluster(network)
        : renderCluster(network, settings);
  return ["{", ...indent(lines), isLast ? "}" : "},"];
}

function renderEvm(network: Network, settings: InitSettings): string[] {
  const { native, fork } = network;
  const usd = settings.nativeUsd.get(network.slug);
  return [
    ...comment(
      `${network.name}. Finality, polling and the fee ceiling have defaults: \`tributary networks show ${network.slug}\`, docs/operate/chains.md.`,
    ),
    ...(fork?.at === null ? comment(`Announced, without a date: ${fork.name}, which changes what gas costs.`) : []),
    field("chainId", network.chainId),
    ...renderUrls(network, settings),
    ...comment(
      `This variable holds the private key that pays gas in ${native.symbol}. It cannot move deposits. "gasKeyFile" names a file with mode 600 instead.`,
    ),
    field("gasKeyEnv", gasKeyVariable(network)),
    ...comment(
      `What one ${native.symbol} costs in US dollars. Keep it roughly right: it decides which payments from other chains are worth their gas.`,
    ),
    usd === undefined ? `// "native": { "usd": "…" },` : field("native", { usd }),
    ...renderTokens(network, (token) => {
      const { minimumUnits, crossingMinimumUnits } = usualMinimums(network.chainId, usd);
      const scale = (units: bigint) => (units * 10n ** BigInt(token.decimals - MINIMUM_DECIMALS)).toString();
      const isBridged = token.symbol === "USDC" && network.cctp !== undefined;
      return [
        field("address", token.address),
        field("decimals", token.decimals),
        ...(isBridged ? [...comment(BRIDGE_COMMENT), `// "bridge": "cctp-v2",`] : []),
        ...comment(isBridged ? `${MINIMUM_COMMENT} ${CROSSING_COMMENT}` : MINIMUM_COMMENT),
        field("minimumUnits", scale(minimumUnits)),
        ...(isBridged ? [field("crossingMinimumUnits", scale(crossingMinimumUnits))] : []),
      ];
    }),
  ];
}

/** The decimals of the amounts that `usualMinimums` gives. */
const MINIMUM_DECIMALS = 6;
const BRIDGE_COMMENT =
  'With "cctp-v2", new intents pin routes between this token and the USDC of the other chains with the same key.';
const MINIMUM_COMMENT =
  "A smaller deposit waits for more, unless the price is reached. In the token's smallest units: twice the gas that it costs you.";
const CROSSING_COMMENT = "The second is for deposits on other chains that are paid out here.";

function renderUrls(network: Network, settings: InitSettings): string[] {
  const urls = settings.rpcUrls.get(network.slug) ?? [];
  const isPublic = urls.some((url) => network.rpcUrls.includes(url));
  return [
    ...comment("In order of preference. With two or more hosts, two must agree before a deposit counts."),
    ...(isPublic
      ? comment(
          "These are public nodes, which refuse many requests: put your own provider first, with its key in a variable: https://provider.example/${PROVIDER_KEY}.",
        )
      : []),
    `"rpcUrls": [`,
    ...indent(urls.map((url, index) => `${JSON.stringify(url)}${index === urls.length - 1 ? "" : ","}`)),
    "],",
    ...comment("Providers that push new blocks, so that a deposit is seen at once."),
    `// "wsUrls": ["wss://…"],`,
  ];
}

/** Only listed: payers see that it exists, and no inbox is issued there. */
function renderListedCluster(network: Network): string[] {
  return [
    ...comment(
      `${network.name}, only listed: without an inbox program nothing can be paid there. Deploy one with \`tributary hub deploy --rpc\`, then add rpcUrls, program, feePayerKeyEnv and feeRecipient: docs/operate/chains.md#a-solana-chain.`,
    ),
    ...clusterFields(network),
    ...renderTokens(network, ({ address, decimals }) => [field("mint", address), field("decimals", decimals)]),
  ];
}

function renderCluster(network: Network, settings: InitSettings): string[] {
  return [
    ...comment(`${network.name}. docs/operate/chains.md#a-solana-chain explains every key.`),
    ...clusterFields(network),
    ...renderUrls(network, settings),
    ...comment("The inbox program, which `tributary hub status --rpc` compares with this release."),
    field("program", settings.solanaProgram),
    ...comment("This variable holds the key pair that pays fees and rent, as solana-keygen writes it."),
    field("feePayerKeyEnv", gasKeyVariable(network)),
    ...comment("Receives the platform fee here: a wallet of its own."),
    field("feeRecipient", settings.solanaFeeRecipient),
    ...renderTokens(network, ({ address, decimals }) => [
      field("mint", address),
      field("decimals", decimals),
      ...comment("A smaller deposit waits for more, unless the price is reached. In the token's smallest units."),
      field("minimumUnits", (10n ** BigInt(decimals - CENT_DIGITS)).toString()),
    ]),
  ];
}

const CENT_DIGITS = 2;

function clusterFields({ caip2 }: Network): string[] {
  return [field("namespace", "solana"), field("reference", caip2.slice("solana:".length))];
}

/** The first token is taken; the others stand before it in comments. */
function renderTokens({ tokens }: Network, fieldsOf: (token: NetworkToken) => string[]): string[] {
  const [first, ...others] = tokens;
  if (first === undefined) return [];
  return [
    `"tokens": [`,
    ...indent([
      ...others.map((token) => {
        const fields = [field("symbol", token.symbol), ...fieldsOf(token).filter((line) => !line.startsWith("//"))];
        return `// { ${withoutLastComma(fields).join(" ")} },`;
      }),
      "{",
      ...indent(withoutLastComma([field("symbol", first.symbol), ...fieldsOf(first)])),
      "}",
    ]),
    "]",
  ];
}

function withoutLastComma(lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === lines.length - 1 ? line.replace(/,$/, "") : line));
}

/** Without a proxy, the base URL names this machine and the port to listen on. */
function portOf(baseUrl: string): number {
  const { hostname, port } = new URL(baseUrl);
  return hostname === "127.0.0.1" && port !== "" ? Number(port) : PORT_DEFAULT;
}

function field(name: string, value: unknown): string {
  const text = JSON.stringify(value, undefined, 1).replaceAll(/\n\s*/g, " ");
  return `${JSON.stringify(name)}: ${text},`;
}

/** Breaks a text into comment lines. */
function comment(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= COMMENT_COLUMNS) lines.push(`// ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}
