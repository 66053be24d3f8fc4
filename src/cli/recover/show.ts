import { checksumAddress } from "@tributary/inbox/checksum";
import type { Holding, Sight } from "@tributary/recover/look";
import { wayOut, type Way } from "@tributary/recover/plan";
import type { KnownInbox } from "@tributary/recover/records";
import { displayDay, displayUnits } from "@tributary/recover/units";
import { findKnownChain } from "../config/knownChains.ts";
import { listing, table, type Terminal } from "../terminal.ts";
import type { Act, Wish } from "./act.ts";

// What `tributary recover` says.

export type Recovered = { sight: Sight; acts: readonly Act[] };

/** One chain for `--json`. */
export function resultOf({ sight, acts }: Recovered): object {
  const holdings = sight.holdings.map(({ inbox, ...holding }) => ({
    inboxAddress: inbox.address,
    intentId: inbox.intentId ?? null,
    ...holding,
    way: wayOut(inbox.terms, { ...sight, token: holding.token }),
  }));
  return { ...sight, holdings, acts };
}

export function inboxLines(inboxes: readonly KnownInbox[], terminal: Terminal): string[] {
  const [only] = inboxes;
  if (only === undefined || inboxes.length > 1) return [`${inboxes.length} inboxes, each recomputed from its terms.`];
  const { address, intentId, terms } = only;
  return listing(terminal, [
    ...(intentId === undefined ? [] : [["intent", intentId] as const]),
    ["inbox", `${checksumAddress(address)}, recomputed from its terms`],
    [
      "pays",
      `${checksumAddress(terms.payout)} in ${checksumAddress(terms.settleToken)} on chain ${terms.settleChainId}`,
    ],
    ["fee", `${(terms.feeBps / 100).toFixed(2)} % to ${checksumAddress(terms.feeRecipient)}`],
    ["recovery", `${checksumAddress(terms.recovery)}, everything from ${displayDay(terms.recoverAfter)}`],
  ]);
}

export function sightLines(sight: Sight, wish: Wish, terminal: Terminal): string[] {
  const heading = ["", terminal.paint("bold", chainName(sight.chainId)), ...hubLines(sight)];
  if (!sight.isSearched)
    heading.push(
      terminal.paint(
        "yellow",
        "It refuses to search all its blocks for tokens: name them with --token, or begin at --from-block.",
      ),
    );
  if (sight.holdings.length === 0) return [...heading, "holds nothing for these inboxes"];
  const rows = sight.holdings.map((holding) => [
    holding.inbox.intentId ?? holding.inbox.address,
    displayUnits(holding.units, holding.decimals),
    holding.symbol,
    holding.token,
    wayText(wayOut(holding.inbox.terms, { ...sight, token: holding.token }), wish),
  ]);
  return [...heading, ...table(terminal, ["inbox of", "holds", "token", "contract", "way out"], rows)];
}

function hubLines({ hub, isDeployable }: Sight): string[] {
  if (hub === "present") return [];
  if (hub === "absent" && isDeployable) return ["The hub is not here yet; --settle and --rescue put it here first."];
  return [
    "This chain makes addresses in another way: the hub cannot stand at its address, and no inbox can be opened.",
  ];
}

function wayText(way: Way, wish: Wish): string {
  if (way.kind === "settle") return wish.settle ? "is settled now" : "--settle, with any key";
  if (way.kind === "none") return "none: its terms name no recovery";
  if (!way.isDue) return `--rescue by ${way.by} from ${displayDay(way.fromSeconds)}`;
  return `--rescue, with the key of ${way.by}`;
}

export function actLines({ sight, acts }: Recovered, terminal: Terminal): string[] {
  const decimalsOf = (token: string): Holding | undefined => sight.holdings.find((holding) => holding.token === token);
  return acts.flatMap(({ what, moved, txHash }) =>
    moved.map(({ inboxAddress, token, units, to }) => {
      const { symbol = "units", decimals = 0 } = decimalsOf(token) ?? {};
      const done = what === "settle" ? "settled" : "rescued";
      const where = what === "settle" ? `for ${to}` : `to ${to}`;
      return `${terminal.paint("green", "✓")} ${done} ${displayUnits(units, decimals)} ${symbol} of ${inboxAddress} ${where} by ${txHash}`;
    }),
  );
}

function chainName(chainId: bigint): string {
  const known = findKnownChain(Number(chainId));
  return known === undefined ? `Chain ${chainId}` : `${known.name} (${chainId})`;
}
