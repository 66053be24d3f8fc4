import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { checksumAddress } from "@tributary/inbox/checksum";
import type { TrackedBurn } from "@tributary/recover/bridge/matchBurns";
import { planBridge, type BridgeSpeed } from "@tributary/recover/bridge/planBridge";
import type { Holding, ChainInspection } from "@tributary/recover/inspectChain";
import { NATIVE_TOKEN, planRecovery, type RecoveryPlan } from "@tributary/recover/planRecovery";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { formatDay, formatUnits } from "@tributary/recover/format";
import { toPrintable } from "@tributary/recover/printable";
import { formatFields, formatTable, type Terminal } from "../../operator/process/terminal.ts";
import type { PendingBurn } from "./receiveOnChain.ts";
import type { RecoverOptions } from "./recoverOnChain.ts";
import { formatChain, type RecoverTransaction } from "./recoverTransaction.ts";

// Formats the output of `tributary recover`.

export type ChainRecovery = {
  inspection: ChainInspection;
  transactions: readonly RecoverTransaction[];
  /** Burns that cannot be received yet; only where the inboxes are paid out. */
  pending?: readonly PendingBurn[];
  isReceiving?: boolean;
};

/** One chain for `--json`. */
export function toRecoverOutput(
  { inspection, transactions, pending, burned: tracked }: ChainRecovery & { burned: readonly TrackedBurn[] },
  { bridges }: Pick<RecoverOptions, "bridges">,
): object {
  const { burned: search, absentHubs: _, ...rest } = inspection;
  const { canDeployHub: isDeployable, isTokenSearchComplete: isSearched, ...chain } = rest;
  const burned = tracked
    .filter((burn) => burn.chain === String(inspection.chainId))
    .map(({ txHash: burn, recipient, units, state }) => ({ burn, recipient, units, state }));
  const holdings = inspection.holdings.map(({ inbox, ...holding }) => ({
    inboxAddress: inbox.address,
    intentId: inbox.intentId ?? null,
    ...holding,
    way: toWayOutput(planRecovery(inbox.terms, { ...inspection, token: holding.token })),
    bridgeSpeeds: findSpeeds({ inbox, ...holding }, inspection, bridges),
  }));
  const acts = { acts: transactions, ...(pending && { pending }) };
  return { ...chain, isDeployable, isSearched, holdings, burned, areBurnsSearched: search.isComplete, ...acts };
}

function toWayOutput(plan: RecoveryPlan): object {
  if (plan.kind !== "rescue") return plan;
  const { kind, sender: by, allowedFromSeconds: fromSeconds, isAllowed: isDue } = plan;
  return { kind, by, fromSeconds, isDue };
}

function findSpeeds(
  { inbox, token }: Holding,
  { chainId }: ChainInspection,
  bridges: readonly CctpV2Chain[],
): BridgeSpeed[] {
  const plan = planBridge(inbox, { chainId, token }, bridges);
  return plan.kind === "bridge" ? plan.routes.map(({ speed }) => speed).toSorted() : [];
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
    [
      "recovery",
      terms.recovery === NATIVE_TOKEN
        ? "by nobody: what cannot be settled or bridged stays"
        : `${checksumAddress(terms.recovery)}, everything from ${formatDay(terms.recoverAfter)}`,
    ],
  ]);
}

export function formatHoldings(
  inspection: ChainInspection,
  options: RecoverOptions,
  { host, terminal }: { host: string; terminal: Terminal },
): string[] {
  const heading = ["", terminal.paint("bold", formatChain(inspection.chainId)), ...formatHub(inspection)];
  if (!inspection.isTokenSearchComplete) heading.push(terminal.paint("yellow", describeIncomplete(inspection)));
  if (inspection.holdings.length === 0)
    return [
      ...heading,
      `holds nothing for these inboxes, says ${host}. Providers can be behind or wrong: ask a second one.`,
    ];
  const rows = inspection.holdings.map((holding) => [
    holding.inbox.intentId ?? holding.inbox.address,
    formatUnits(holding.units, holding.decimals),
    holding.symbol,
    holding.token,
    formatWithdrawal(holding, inspection, options),
  ]);
  return [...heading, ...formatTable(terminal, ["inbox of", "balance", "token", "contract", "recovery"], rows)];
}

function describeIncomplete({ skippedBalances }: ChainInspection): string {
  return skippedBalances === 0
    ? "The provider rejects the search of all blocks: name the tokens with --token, or start at --from-block."
    : `Incomplete: ${skippedBalances} balances of tokens in the logs stayed unread. Name the tokens that you miss with --token.`;
}

function formatHub({ hub, canDeployHub }: ChainInspection): string[] {
  if (hub === "present") return [];
  if (hub === "absent" && canDeployHub) return ["The hub is missing; --settle, --bridge and --rescue deploy it first."];
  return ["The hub cannot be deployed at its address on this chain, so its inboxes cannot be opened."];
}

function formatWithdrawal(holding: Holding, inspection: ChainInspection, options: RecoverOptions): string {
  const plan = planRecovery(holding.inbox.terms, { ...inspection, token: holding.token });
  const bridgePlan = planBridge(holding.inbox, { ...inspection, token: holding.token }, options.bridges);
  if (bridgePlan.kind === "unlisted")
    return `${formatPlan(plan, options)}; its routes are not in the file: add one whole intent to --bridge it`;
  if (bridgePlan.kind !== "bridge") return formatPlan(plan, options);
  const minimum = bridgePlan.routes.reduce(
    (least, { route }) => (route.minAmount < least ? route.minAmount : least),
    MAX,
  );
  if (holding.units < minimum)
    return `below the bridge's minimum of ${formatUnits(minimum, holding.decimals)}; ${formatPlan(plan, options)}`;
  if (options.speed !== undefined) return `bridges now to ${formatChain(holding.inbox.terms.settleChainId)}`;
  const isRescuable = plan.kind === "rescue" && plan.isAllowed;
  return `--bridge, with any key${isRescuable ? `, or ${formatPlan(plan, options)}` : ""}`;
}

/** Above every minimum. */
const MAX = 2n ** 256n;

function formatPlan(plan: RecoveryPlan, options: RecoverOptions): string {
  if (plan.kind === "settle") return options.settle ? "settles now" : "--settle, with any key";
  if (plan.kind === "none") return "none: its terms name no recovery address";
  if (!plan.isAllowed) return `--rescue by ${plan.sender} from ${formatDay(plan.allowedFromSeconds)}`;
  return `--rescue, with the key of ${plan.sender}`;
}

const VERBS = {
  deploy: "deployed",
  settle: "settled",
  rescue: "rescued",
  bridge: "bridged",
  receive: "received and settled",
};
const USDC = { symbol: "USDC", decimals: 6 };
const UNKNOWN_TOKEN = { symbol: "units", decimals: 0 };

export function formatTransactions({ inspection, transactions }: ChainRecovery, terminal: Terminal): string[] {
  const findHolding = (token: string): Holding | undefined =>
    inspection.holdings.find((holding) => holding.token === token);
  return transactions.flatMap(({ what, moved, txHash }) =>
    moved.map(({ inboxAddress, token, units, to }) => {
      // Only USDC is bridged, so what is received is USDC even where the inbox was empty before.
      const { symbol, decimals } = findHolding(token) ?? (what === "receive" ? USDC : UNKNOWN_TOKEN);
      const target = what === "rescue" ? `to ${to}` : what === "bridge" ? "" : `for ${to}`;
      const moving = `${VERBS[what]} ${formatUnits(units, decimals)} ${symbol} of ${inboxAddress}`;
      return [terminal.paint("green", "✓"), moving, target, "by", txHash].filter((part) => part !== "").join(" ");
    }),
  );
}

/** What remains to be done elsewhere or later. */
export function formatNextSteps(
  { transactions, pending = [] }: ChainRecovery,
  { inboxes, file }: { inboxes: readonly VerifiedInbox[]; file: string },
): string[] {
  const burns = transactions.filter(({ what }) => what === "bridge");
  const chainOf = (address: string) => inboxes.find((inbox) => inbox.address === address)?.terms.settleChainId;
  const bySettleChain = Map.groupBy(burns, ({ moved }) => chainOf(moved[0]?.inboxAddress ?? ""));
  const next = [...bySettleChain].flatMap(([chainId, group]) => [
    "",
    `Next, when Circle has signed it (after seconds if fast, else when this chain is final), on ${formatChain(chainId ?? 0n)}:`,
    `  tributary recover ${file} --rpc <its URL> --receive ${group.map(({ txHash }) => txHash).join(",")} --key-file <file>`,
  ]);
  const waiting = pending.map(({ burn, reason }) => toPrintable(`Not yet: ${burn}. ${reason}`));
  return [...next, ...waiting];
}
