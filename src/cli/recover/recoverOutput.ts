import { checksumAddress } from "@tributary/inbox/checksum";
import type { Holding, ChainInspection } from "@tributary/recover/inspectChain";
import { planRecovery, type RecoveryPlan } from "@tributary/recover/planRecovery";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { formatDay, formatUnits } from "@tributary/recover/format";
import { findKnownChain } from "../../config/knownChains.ts";
import { formatFields, formatTable, type Terminal } from "../../operator/process/terminal.ts";
import type { RecoverTransaction, RecoverRequest } from "./recoverOnChain.ts";

// What `tributary recover` says.

export type ChainRecovery = { sight: ChainInspection; acts: readonly RecoverTransaction[] };

/** One chain for `--json`. */
export function toRecoverOutput({ sight, acts }: ChainRecovery): object {
  const { canDeployHub: isDeployable, isTokenSearchComplete: isSearched, ...inspection } = sight;
  const holdings = sight.holdings.map(({ inbox, ...holding }) => ({
    inboxAddress: inbox.address,
    intentId: inbox.intentId ?? null,
    ...holding,
    way: toWayOutput(planRecovery(inbox.terms, { ...sight, token: holding.token })),
  }));
  return { ...inspection, isDeployable, isSearched, holdings, acts };
}

function toWayOutput(plan: RecoveryPlan): object {
  if (plan.kind !== "rescue") return plan;
  const { kind, sender: by, allowedFromSeconds: fromSeconds, isAllowed: isDue } = plan;
  return { kind, by, fromSeconds, isDue };
}

export function formatInboxes(inboxes: readonly VerifiedInbox[], terminal: Terminal): string[] {
  const [only] = inboxes;
  if (only === undefined || inboxes.length > 1) return [`${inboxes.length} inboxes, each recomputed from its terms.`];
  const { address, intentId, terms } = only;
  return formatFields(terminal, [
    ...(intentId === undefined ? [] : [["intent", intentId] as const]),
    ["inbox", `${checksumAddress(address)}, recomputed from its terms`],
    [
      "pays",
      `${checksumAddress(terms.payout)} in ${checksumAddress(terms.settleToken)} on chain ${terms.settleChainId}`,
    ],
    ["fee", `${(terms.feeBps / 100).toFixed(2)} % to ${checksumAddress(terms.feeRecipient)}`],
    ["recovery", `${checksumAddress(terms.recovery)}, everything from ${formatDay(terms.recoverAfter)}`],
  ]);
}

export function formatHoldings(sight: ChainInspection, request: RecoverRequest, terminal: Terminal): string[] {
  const heading = ["", terminal.paint("bold", formatChain(sight.chainId)), ...formatHub(sight)];
  if (!sight.isTokenSearchComplete)
    heading.push(
      terminal.paint(
        "yellow",
        "It refuses to search all its blocks for tokens: name them with --token, or begin at --from-block.",
      ),
    );
  if (sight.holdings.length === 0) return [...heading, "holds nothing for these inboxes"];
  const rows = sight.holdings.map((holding) => [
    holding.inbox.intentId ?? holding.inbox.address,
    formatUnits(holding.units, holding.decimals),
    holding.symbol,
    holding.token,
    formatWithdrawal(planRecovery(holding.inbox.terms, { ...sight, token: holding.token }), request),
  ]);
  return [...heading, ...formatTable(terminal, ["inbox of", "holds", "token", "contract", "way out"], rows)];
}

function formatHub({ hub, canDeployHub }: ChainInspection): string[] {
  if (hub === "present") return [];
  if (hub === "absent" && canDeployHub) return ["The hub is not here yet; --settle and --rescue put it here first."];
  return [
    "This chain makes addresses in another way: the hub cannot stand at its address, and no inbox can be opened.",
  ];
}

function formatWithdrawal(way: RecoveryPlan, request: RecoverRequest): string {
  if (way.kind === "settle") return request.settle ? "is settled now" : "--settle, with any key";
  if (way.kind === "none") return "none: its terms name no recovery";
  if (!way.isAllowed) return `--rescue by ${way.sender} from ${formatDay(way.allowedFromSeconds)}`;
  return `--rescue, with the key of ${way.sender}`;
}

export function formatTransactions({ sight, acts }: ChainRecovery, terminal: Terminal): string[] {
  const decimalsOf = (token: string): Holding | undefined => sight.holdings.find((holding) => holding.token === token);
  return acts.flatMap(({ what, moved, txHash }) =>
    moved.map(({ inboxAddress, token, units, to }) => {
      const { symbol = "units", decimals = 0 } = decimalsOf(token) ?? {};
      const done = what === "settle" ? "settled" : "rescued";
      const where = what === "settle" ? `for ${to}` : `to ${to}`;
      return `${terminal.paint("green", "✓")} ${done} ${formatUnits(units, decimals)} ${symbol} of ${inboxAddress} ${where} by ${txHash}`;
    }),
  );
}

function formatChain(chainId: bigint): string {
  const known = findKnownChain(Number(chainId));
  return known === undefined ? `Chain ${chainId}` : `${known.name} (${chainId})`;
}
