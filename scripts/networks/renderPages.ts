import type { Network } from "../../src/config/networks/network.ts";
import { RPC_FAMILIES } from "../../src/config/networks/rpcFamilies.ts";
import { REFUSED_NETWORKS } from "../../src/config/networks/refused.ts";
import { formatSeconds } from "../../src/kernel/text/formatSeconds.ts";
import gasFigures from "../../contracts/gas.json" with { type: "json" };
import { SOURCES, type Source, type SourceKey } from "./sources.ts";

// The documents that come from the catalogue: a page for each real network, one table for operators and one for
// merchants.

const WEI_PER_GWEI = 1e9;
const PRICE_UNITS = 1_000_000n;
const WRITTEN = "This page comes from the catalogue: `node scripts/networks/writeNetworks.ts` writes it.";
const BPS_PER_PERCENT = 100;
const FEE_DIGITS = 3;

const COSTS: readonly [what: string, gas: number][] = [
  ["first settlement of an inbox", gasFigures.settleFirst],
  ["settlement of an inbox that exists", gasFigures.settleRepeat],
  ["each inbox of a hundred in one batch, the first time", gasFigures.nettedFirst],
  ["sending an inbox's money over the bridge, the first time", gasFigures.burnFirst],
  ["receiving and settling what a fast crossing brought, the first time", gasFigures.receiveFastFirst],
];

export function renderPages(networks: readonly Network[]): [path: string, content: string][] {
  const live = networks.filter(({ environment }) => environment === "live");
  return [
    ["docs/operate/networks.md", operatorsTable(networks)],
    ["docs/integrate/networks.md", merchantsTable(live)],
    ...live.map((network): [string, string] => [`docs/networks/${network.slug}.md`, networkPage(network)]),
  ];
}

function page(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

function table(rows: readonly (readonly string[])[], alignment: readonly string[]): string[] {
  const [head = [], ...body] = rows;
  const line = (row: readonly string[]) => `| ${row.join(" | ")} |`;
  return [line(head), `|${alignment.join("|")}|`, ...body.map(line)];
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "not published" : formatSeconds(ms / 1_000);
}

function fastTime({ cctp }: Network): string {
  if (cctp?.fastFeeBps === undefined) return "–";
  return cctp.fastSeconds === undefined ? "not published" : formatSeconds(cctp.fastSeconds);
}

function fastFee({ cctp }: Network): string {
  return cctp?.fastFeeBps === undefined ? "–" : `${Number((cctp.fastFeeBps / BPS_PER_PERCENT).toFixed(FEE_DIGITS))} %`;
}

function standardTime({ cctp }: Network): string {
  if (cctp === undefined) return "–";
  const [least, most] = cctp.standardSeconds ?? [];
  if (least === undefined || most === undefined) return "not published";
  return least === most ? formatSeconds(least) : `${formatSeconds(least)} to ${formatSeconds(most)}`;
}

function tiers({ finality, safeMs, finalizedMs }: Network): string {
  return finality
    .map(({ upToPriceUnits, seconds: waited, tag, confirmations }) => {
      const wait =
        tag === undefined
          ? waited === undefined
            ? `${confirmations} block`
            : `${waited} s`
          : `\`${tag}\` (${seconds(tag === "safe" ? safeMs : finalizedMs)})`;
      return upToPriceUnits === undefined
        ? wait
        : `${wait} up to ${(BigInt(upToPriceUnits) / PRICE_UNITS).toLocaleString("en")}`;
    })
    .join(", then ");
}

/** In dollars, with two significant digits. */
function dollars(gas: number, { usual }: Network): string {
  if (usual === undefined) return "–";
  const usd = (gas * Number(usual.feePerGasGwei) * Number(usual.nativeUsd)) / WEI_PER_GWEI;
  const digits = Math.max(2, 1 - Math.floor(Math.log10(usd)));
  return `$${usd.toFixed(digits)}`;
}

function operatorsTable(networks: readonly Network[]): string {
  const rows = networks.map((network) => [
    network.environment === "live" ? `[${network.name}](../networks/${network.slug}.md)` : `${network.name}, test`,
    `\`${network.slug}\``,
    String(network.chainId),
    network.tokens.map(({ symbol }) => symbol).join(", ") || "–",
    network.pollMs.toLocaleString("en"),
    network.kind === "solana" ? "–" : (network.maxFeePerGasGwei ?? "500"),
    tiers(network),
  ]);
  const families = RPC_FAMILIES.map(({ name, logBlocks, batchCalls, note = "", source }) => [
    `[${name}](${source})`,
    logBlocks.free?.toLocaleString("en") ?? "–",
    logBlocks.paid?.toLocaleString("en") ?? "–",
    batchCalls === undefined ? "–" : String(batchCalls),
    note,
  ]);
  return page([
    "# The public networks",
    "",
    WRITTEN,
    "",
    "The catalogue of this release. `tributary networks show <slug>` prints a network with the source and date of each field, `tributary init --chains base,arbitrum`",
    "writes a configuration from it, and `tributary doctor --network base` compares its entry with the chain itself.",
    "",
    ...table(
      [
        ["network", "slug", "chain id", "tokens", "`pollMs`", "fee ceiling, gwei", "finality, by sums in the currency"],
        ...rows,
      ],
      ["---", "---", "---:", "---", "---:", "---:", "---"],
    ),
    "",
    `Refused, with one sentence ([why](../why/024-refused-networks.md)): ${REFUSED_NETWORKS.map(({ name, chainId }) => `${name} (${chainId})`).join(", ")}.`,
    "",
    "## Providers",
    "",
    "With two or more hosts, two must agree before a deposit counts. Take them from two families. A key stays out of the file: in `rpcUrls`, `${NAME}` stands for",
    "an environment variable. Batches begin within the limit of a known family; ranges, and the limits of others, are learned from answers.",
    "",
    ...table(
      [["family", "blocks a request for logs, free", "paid", "calls a batch", "note"], ...families],
      ["---", "---:", "---:", "---:", "---"],
    ),
    "",
    "The limits were read on 2026-11-28 in stored copies of the linked pages, and providers change them.",
    "",
    ...secondNodes(networks.filter(({ environment }) => environment === "live")),
  ]);
}

/** What no source tells is a fact as well. */
function secondNodes(live: readonly Network[]): string[] {
  const single = live.filter(({ rpcUrls }) => rpcUrls.length < 2).map(({ name }) => name);
  const untimed = live.filter(({ cctp }) => cctp !== undefined && cctp.standardSeconds === undefined);
  return [
    `Every network for real money has public nodes of two operators in this catalogue, except ${single.join(", ")}: no list that was read names a second one. Public nodes are for a`,
    "first look; they promise nothing.",
    "",
    `Circle's page of attestation times, as far as its stored copy goes, has no standard time for ${untimed.map(({ name }) => name).join(", ")}. Crossings work there all the same; the pages say`,
    "*not published*.",
  ];
}

function merchantsTable(live: readonly Network[]): string {
  const rows = live.map((network) => [
    `[${network.name}](../networks/${network.slug}.md)`,
    tiers(network),
    network.feeUsdMax === undefined ? "–" : `$${network.feeUsdMax}`,
    fastTime(network),
    fastFee(network),
    standardTime(network),
  ]);
  return page([
    "# What your payer waits, and what it costs",
    "",
    WRITTEN,
    "",
    "A payment counts when its chain is final enough for its sum; limits are in the payout's currency. Then your order can go out. When the payer's network is not your payout's,",
    "the money crosses afterwards: your payout waits for the times on the right, your payer does not.",
    "",
    ...table(
      [
        [
          "payer's network",
          "counts after",
          "payer's gas, at most",
          "crossing, fast",
          "fee of fast",
          "crossing, standard",
        ],
        ...rows,
      ],
      ["---", "---", "---:", "---", "---:", "---"],
    ),
    "",
    "- A crossing takes the fast way while its fee is within the operator's limit, else the standard one, which costs nothing at present. –: there is no such way from this network.",
    "- The payer's gas is what the checkout tells him a plain transfer costs at most. –: this release states no price.",
    "- The times of crossings are [Circle's averages](https://developers.circle.com/cctp/concepts/finality-and-block-confirmations), its fees [Circle's table](https://developers.circle.com/cctp/concepts/fees); both may change.",
    "- *not published*: neither Circle's pages nor the network's, as far as they were read.",
  ]);
}

function networkPage(network: Network): string {
  const { name, native, cctp, usual, fork, environment } = network;
  const isEvm = network.kind === "evm";
  const fields: string[][] = [
    ["chain", isEvm ? `${network.chainId}, \`${network.caip2}\`` : `\`${network.caip2}\``],
    ["coin that pays gas", `${native.name} (${native.symbol})`],
    ["explorer", `<${network.explorerUrl}>`],
    ["public nodes", network.rpcUrls.map((url) => `<${url}>`).join(", ")],
    ...network.tokens.map(({ symbol, address, decimals }) => [symbol, `\`${address}\`, ${decimals} decimals`]),
    ["a block every", seconds(network.blockMs)],
    ["final by its own tag after", seconds(network.finalizedMs)],
    ["a payment counts after", tiers(network)],
    ...(network.maxFeePerGasGwei === undefined ? [] : [["fee ceiling", `${network.maxFeePerGasGwei} gwei`]]),
    ...(network.transactionGasMax === undefined
      ? []
      : [["a transaction's gas at most", Number(network.transactionGasMax).toLocaleString("en")]]),
    ...(fork === undefined ? [] : [["announced", `${fork.name}, ${fork.at ?? "without a date"}`]]),
  ];
  const keys = [...new Set(Object.values(network.sources))] as SourceKey[];
  return page([
    `# ${name}`,
    "",
    WRITTEN,
    "",
    ...table([["", ""], ...fields], ["---", "---"]),
    "",
    ...(isEvm
      ? [`\`tributary doctor --network ${network.slug}\` compares these values with the chain itself.`, ""]
      : []),
    ...(network.rpcUrls.length < 2
      ? [
          "Only one public node without a key is known here: take a second provider of [another family](../operate/networks.md#providers).",
          "",
        ]
      : []),
    ...crossings(network),
    ...(isEvm ? costs(network) : []),
    "## Sources",
    "",
    ...keys.map((key) => `- ${sourceLine(SOURCES[key])}`),
    ...(environment === "live" && usual === undefined && isEvm
      ? ["", "No price of gas is stated, because none was found in a source."]
      : []),
    ...(cctp === undefined && isEvm ? ["", "Circle's bridge is not here: what is paid here is paid out here."] : []),
  ]);
}

function crossings(network: Network): string[] {
  const { cctp } = network;
  if (cctp === undefined) return [];
  const { domain, messenger, transmitter, fastBlocks, standardBlocks } = cctp;
  const blocks = (count: number) => (count === 1 ? "1 block" : `${count} blocks`);
  return [
    "## Crossings from here",
    "",
    ...table(
      [
        ["", "Circle attests after", "fee"],
        [
          "fast",
          cctp.fastFeeBps === undefined ? "no fast way" : `${blocks(fastBlocks)}, ${fastTime(network)}`,
          fastFee(network),
        ],
        ["standard", `${blocks(standardBlocks)}, ${standardTime(network)}`, "0 %"],
      ],
      ["---", "---", "---:"],
    ),
    "",
    `CCTP domain ${domain}, messenger \`${messenger}\`, transmitter \`${transmitter}\`.`,
    "",
  ];
}

function costs(network: Network): string[] {
  const { usual, native } = network;
  const price =
    usual === undefined
      ? "What they cost is the gas times the price of gas, which `tributary doctor` shows."
      : `At ${usual.feePerGasGwei} gwei and ${native.symbol} at $${usual.nativeUsd}, rough prices of ${SOURCES.usual.date}:`;
  return [
    "## What settling costs",
    "",
    price,
    "",
    ...table(
      [
        ["transaction", "gas", "cost"],
        ...COSTS.map(([what, gas]) => [what, gas.toLocaleString("en"), dollars(gas, network)]),
      ],
      ["---", "---:", "---:"],
    ),
    "",
    "The gas is measured with Circle's token code under the rules of today: [measurements](../bench.md).",
    "",
  ];
}

function sourceLine({ title, url, date }: Source): string {
  return `${url === undefined ? title : `[${title}](${url})`}, ${date}`;
}
