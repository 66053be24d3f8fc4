import { usualMinimums } from "../../config/operate/usualCosts.ts";
import { BURN_ADDRESS, gasKeyVariable, type InitChain, type InitSettings } from "./settings.ts";

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
      field("defaultRail", `${settings.chains[0]?.slug}:usdc`),
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

function renderChain(chain: InitChain, { settings, isLast }: { settings: InitSettings; isLast: boolean }): string[] {
  const urls = settings.rpcUrls.get(chain.slug) ?? [];
  const usd = settings.nativeUsd.get(chain.slug);
  const { minimumUnits, crossingMinimumUnits } = usualMinimums(chain.chainId, usd);
  return [
    "{",
    ...indent([
      ...comment(`${chain.name}. Finality, polling and the fee ceiling have defaults: docs/operate/chains.md.`),
      field("chainId", chain.chainId),
      ...comment("In order of preference. With two or more hosts, two must agree before a deposit counts."),
      `"rpcUrls": [`,
      ...indent(urls.map((url, index) => `${JSON.stringify(url)}${index === urls.length - 1 ? "" : ","}`)),
      "],",
      ...comment("Providers that push new blocks, so that a deposit is seen at once."),
      `// "wsUrls": ["wss://…"],`,
      ...comment(
        `This variable holds the private key that pays gas in ${chain.native.symbol}. It cannot move deposits. "gasKeyFile" names a file with mode 600 instead.`,
      ),
      field("gasKeyEnv", gasKeyVariable(chain)),
      ...comment(
        `What one ${chain.native.symbol} costs in US dollars. Keep it roughly right: it decides which payments from other chains are worth their gas.`,
      ),
      usd === undefined ? `// "native": { "usd": "…" },` : field("native", { usd }),
      `"tokens": [`,
      ...indent([
        "{",
        ...indent([
          field("symbol", "USDC"),
          field("address", chain.usdc),
          field("decimals", 6),
          ...comment(
            'With "cctp-v2", new intents pin routes between this token and the USDC of the other chains with the same key.',
          ),
          `// "bridge": "cctp-v2",`,
          ...comment(
            "A smaller deposit waits for more, unless the price is reached. In the token's smallest units: twice the gas that it costs you. The second is for deposits on other chains that are paid out here.",
          ),
          field("minimumUnits", minimumUnits.toString()),
          field("crossingMinimumUnits", crossingMinimumUnits.toString()).replace(/,$/, ""),
        ]),
        "}",
      ]),
      "]",
    ]),
    isLast ? "}" : "},",
  ];
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
