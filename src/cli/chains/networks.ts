import {
  NETWORKS,
  NETWORK_SOURCES,
  type Network,
  type NetworkCctp,
  type NetworkTier,
} from "../../config/networks/network.ts";
import { REFUSED_NETWORKS, refusalOf } from "../../config/networks/refused.ts";
import { findChainByName, unknownNetworkMessage } from "../../config/chainName.ts";
import { formatSeconds } from "../../kernel/text/formatSeconds.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";
import type { Command, CommandInput } from "../command.ts";
import { formatTable } from "../formatTable.ts";

const ENVIRONMENTS = ["live", "test"] as const;

export const networksList: Command = {
  name: "networks list",
  summary: "list the public networks that this release knows",
  help: "List the public networks of the catalogue; ask no chain",
  positionals: [],
  options: { environment: { value: "live|test", summary: "only real networks, or only test networks" } },
  examples: ["tributary networks list", "tributary networks list --environment live --json"],
  run: async (input) => listNetworks(input),
};

export const networksShow: Command = {
  name: "networks show",
  summary: "show a public network, with the source and date of each field",
  help: "Show what the catalogue knows of a network, and where each field comes from; ask no chain",
  positionals: [{ name: "network", summary: "slug, chain id, CAIP-2 or name" }],
  options: {},
  examples: ["tributary networks show base", "tributary networks show 42161 --json"],
  run: async (input) => showNetwork(input),
};

function listNetworks({ values, terminal, asJson }: CommandInput): number {
  const { environment } = values;
  if (environment !== undefined && !ENVIRONMENTS.some((each) => each === environment))
    throw new UsageError(`--environment must be live or test, not ${environment}.`);
  const networks = NETWORKS.filter((network) => environment === undefined || network.environment === environment);
  if (asJson) {
    terminal.out(toJson({ networks, refused: REFUSED_NETWORKS, sources: NETWORK_SOURCES }));
    return 0;
  }
  const rows = networks.map((network) => [
    network.slug,
    String(network.chainId),
    network.name,
    network.tokens.map(({ symbol }) => symbol).join(" "),
    fastText(network.cctp),
    standardText(network.cctp),
    network.finalizedMs === undefined ? "?" : formatSeconds(network.finalizedMs / 1_000),
  ]);
  const heads = ["slug", "id", "name", "tokens", "fast", "standard", "final"];
  for (const [index, line] of formatTable([heads, ...rows]).entries())
    terminal.out(index === 0 ? terminal.paint("bold", line) : line);
  terminal.out("");
  terminal.out("fast, standard: until Circle attests a burn here. final: until the chain's own tag. ?: not published.");
  terminal.out(
    `Refused: ${REFUSED_NETWORKS.map(({ slug }) => slug).join(", ")}. "tributary networks show arc" says why.`,
  );
  return 0;
}

/** Finds a network by any of its names. Throws CommandError for a refused or unknown one. */
export function resolveNetwork(typed: string): Network {
  const network = findChainByName(NETWORKS, typed);
  if (network !== undefined) return network;
  const lowerCase = typed.toLowerCase();
  const refused = REFUSED_NETWORKS.find(({ chainId, slug, name }) =>
    [String(chainId), `eip155:${chainId}`, slug, name.toLowerCase()].includes(lowerCase),
  );
  if (refused !== undefined) throw new CommandError(refusalOf(refused));
  throw new CommandError(unknownNetworkMessage(NETWORKS, typed));
}

function showNetwork({ positionals, terminal, asJson }: CommandInput): number {
  const network = resolveNetwork(positionals[0] ?? "");
  if (asJson) {
    const keys = new Set(Object.values(network.sources));
    const sources = Object.fromEntries(Object.entries(NETWORK_SOURCES).filter(([key]) => keys.has(key)));
    terminal.out(toJson({ ...network, sourceTexts: sources }));
    return 0;
  }
  for (const line of describeNetwork(network, terminal)) terminal.out(line);
  return 0;
}

/** A field's rows: its name, its value, and the field of `sources`. */
type FieldRow = [name: string, value: string, field: string];

function describeNetwork(network: Network, terminal: Terminal): string[] {
  const rows = fieldRows(network).filter(([, value]) => value !== "");
  const lines = formatTable(rows.map(([name, value, field]) => [name, value, sourceKey(network, field)]));
  const used = [...new Set(rows.map(([, , field]) => sourceKey(network, field)))];
  return [
    terminal.paint("bold", `${network.name}, ${network.environment === "test" ? "a test network" : "a real network"}`),
    ...lines,
    "",
    terminal.paint("bold", "Sources"),
    ...formatTable(
      used.flatMap((key) => {
        const { title = "", url, date = "" } = NETWORK_SOURCES[key] ?? {};
        return [[key, date, title], ...(url === undefined ? [] : [["", "", url]])];
      }),
    ),
  ];
}

function sourceKey({ sources }: Network, field: string): string {
  return sources[field] ?? sources[field.split(/[.[]/)[0] ?? ""] ?? "";
}

function fieldRows(network: Network): FieldRow[] {
  const { native, cctp, usual, fork } = network;
  const seconds = (ms: number | undefined) => (ms === undefined ? "" : formatSeconds(ms / 1_000));
  return [
    ["slug", network.slug, "slug"],
    ["chain id", String(network.chainId), "chainId"],
    ["CAIP-2", network.caip2, "caip2"],
    ["coin", `${native.name} (${native.symbol}, ${native.decimals} decimals)`, "native"],
    ["explorer", network.explorerUrl, "explorerUrl"],
    ...network.rpcUrls.map((url, index): FieldRow => ["public node", url, `rpcUrls[${index}]`]),
    ...network.tokens.map(({ symbol, address, decimals }): FieldRow => {
      return [symbol, `${address}, ${decimals} decimals`, `tokens.${symbol}`];
    }),
    ...cctpRows(cctp),
    ["block time", seconds(network.blockMs), "blockMs"],
    ["safe after", seconds(network.safeMs), "safeMs"],
    ["final after", seconds(network.finalizedMs), "finalizedMs"],
    ["counts after", network.finality.map(tierText).join("; "), "finality"],
    ["polled every", seconds(network.pollMs), "pollMs"],
    [
      "fee ceiling",
      network.maxFeePerGasGwei === undefined ? "" : `${network.maxFeePerGasGwei} gwei`,
      "maxFeePerGasGwei",
    ],
    [
      "gas ceiling",
      network.transactionGasMax === undefined ? "" : `${network.transactionGasMax} a transaction`,
      "transactionGasMax",
    ],
    ["usual prices", usual ? `${usual.feePerGasGwei} gwei, ${native.symbol} at $${usual.nativeUsd}` : "", "usual"],
    ["fork", fork ? `${fork.name}, ${fork.at ?? "no date announced"}` : "", "fork"],
  ];
}

function cctpRows(cctp: NetworkCctp | undefined): FieldRow[] {
  if (cctp === undefined) return [];
  return [
    ["CCTP domain", String(cctp.domain), "cctp"],
    ["CCTP messenger", cctp.messenger, "cctp"],
    ["CCTP transmitter", cctp.transmitter, "cctp"],
    [
      "fast",
      cctp.fastFeeBps === undefined ? "not offered" : `${blocks(cctp.fastBlocks)}, ${cctp.fastFeeBps} bps`,
      "cctp.fastFeeBps",
    ],
    ["fast time", cctp.fastSeconds === undefined ? "" : fastText(cctp), "cctp.fastSeconds"],
    ["standard", blocks(cctp.standardBlocks), "cctp"],
    ["standard time", cctp.standardSeconds === undefined ? "" : standardText(cctp), "cctp.standardSeconds"],
  ];
}

function blocks(count: number): string {
  return count === 1 ? "1 block" : `${count} blocks`;
}

function tierText({ upToPriceUnits, seconds, confirmations, tag }: NetworkTier): string {
  const rule = tag ?? (seconds === undefined ? `${confirmations} block` : `${seconds} s`);
  const PRICE_UNITS = 1_000_000n;
  return upToPriceUnits === undefined ? rule : `${rule} up to ${BigInt(upToPriceUnits) / PRICE_UNITS}`;
}

function fastText(cctp: NetworkCctp | undefined): string {
  if (cctp?.fastFeeBps === undefined) return "-";
  return cctp.fastSeconds === undefined ? "?" : formatSeconds(cctp.fastSeconds);
}

function standardText(cctp: NetworkCctp | undefined): string {
  if (cctp === undefined) return "-";
  const [least, most] = cctp.standardSeconds ?? [];
  if (least === undefined || most === undefined) return "?";
  return least === most ? formatSeconds(least) : `${formatSeconds(least)} to ${formatSeconds(most)}`;
}
