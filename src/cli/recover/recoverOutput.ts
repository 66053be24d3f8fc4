import { checksumAddress } from "@tributary/inbox/checksum";
import type { Holding, ChainInspection } from "@tributary/recover/inspectChain";
import { planRecovery, type RecoveryPlan } from "@tributary/recover/planRecovery";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { formatDay, formatUnits } from "@tributary/recover/format";
import { findKnownChain } from "../../config/knownChains.ts";
import { formatFields, formatTable, type Terminal } from "../../operator/process/terminal.ts";
import type { RecoverTransaction, RecoverOptions } from "./recoverOnChain.ts";

// Formats the output of `tributary recover`.

export type ChainRecovery = { inspection: ChainInspection; transactions: readonly RecoverTransaction[] };

/** One chain for `--json`. */
export function toRecoverOutput({ inspection, transactions }: ChainRecovery): object {
  const { canDeployHub: isDeployable, isTokenSearchComplete: isSearched, absentHubs: _, ...chain } = inspection;
  const holdings = inspection.holdings.map(({ inbox, ...holding }) => ({
    inboxAddress: inbox.address,
    intentId: inbox.intentId ?? null,
    ...holding,
    way: toWayOutput(planRecovery(inbox.terms, { ...inspection, token: holding.token })),
  }));
  return { ...chain, isDeployable, isSearched, holdings, acts: transactions };
}

function toWayOutput(plan: RecoveryPlan): object {
  if (plan.kind !== "rescue") return plan;
  const { kind, sender: by, allowedFromSeconds: fromSeconds, isAllowed: isDue } = plan;
  return { kind, by, fromSeconds, isDue };
}

export function formatInboxes(inboxes: readonly VerifiedInbox[], terminal: Terminal): string[] {
  const [only] = inboxes;
  if (only === undefined || inboxes.length > 1) return [`${inboxes.length} inboxes, recomputed from their terms.`];
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

export function formatHoldings(inspection: ChainInspection, options: RecoverOptions, terminal: Terminal): string[] {
  const heading = ["", terminal.paint("bold", formatChain(inspection.chainId)), ...formatHub(inspection)];
  if (!inspection.isTokenSearchComplete)
    heading.push(
      terminal.paint(
        "yellow",
        "The provider rejects the search of all blocks: name the tokens with --token, or start at --from-block.",
      ),
    );
  if (inspection.holdings.length === 0) return [...heading, "holds nothing for these inboxes"];
  const rows = inspection.holdings.map((holding) => [
    holding.inbox.intentId ?? holding.inbox.address,
    formatUnits(holding.units, holding.decimals),
    holding.symbol,
    holding.token,
    formatWithdrawal(planRecovery(holding.inbox.terms, { ...inspection, token: holding.token }), options),
  ]);
  return [...heading, ...formatTable(terminal, ["inbox of", "balance", "token", "contract", "recovery"], rows)];
}

function formatHub({ hub, canDeployHub }: ChainInspection): string[] {
  if (hub === "present") return [];
  if (hub === "absent" && canDeployHub) return ["The hub is missing; --settle and --rescue deploy it first."];
  return ["The hub cannot be deployed at its address on this chain, so its inboxes cannot be opened."];
}

function formatWithdrawal(plan: RecoveryPlan, options: RecoverOptions): string {
  if (plan.kind === "settle") return options.settle ? "settles now" : "--settle, with any key";
  if (plan.kind === "none") return "none: its terms name no recovery address";
  if (!plan.isAllowed) return `--rescue by ${plan.sender} from ${formatDay(plan.allowedFromSeconds)}`;
  return `--rescue, with the key of ${plan.sender}`;
}

export function formatTransactions({ inspection, transactions }: ChainRecovery, terminal: Terminal): string[] {
  const findHolding = (token: string): Holding | undefined =>
    inspection.holdings.find((holding) => holding.token === token);
  return transactions.flatMap(({ what, moved, txHash }) =>
    moved.map(({ inboxAddress, token, units, to }) => {
      const { symbol = "units", decimals = 0 } = findHolding(token) ?? {};
      const verb = what === "settle" ? "settled" : "rescued";
      const target = what === "settle" ? `for ${to}` : `to ${to}`;
      return `${terminal.paint("green", "✓")} ${verb} ${formatUnits(units, decimals)} ${symbol} of ${inboxAddress} ${target} by ${txHash}`;
    }),
  );
}

function formatChain(chainId: bigint): string {
  const known = findKnownChain(Number(chainId));
  return known === undefined ? `Chain ${chainId}` : `${known.name} (${chainId})`;
}
