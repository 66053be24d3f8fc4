import { hash } from "node:crypto";
import { zeroAddress } from "@tributary/inbox/terms";
import { findAsset, findChainDescription, findWatchedChain, type Catalog } from "../../../catalog/catalog.ts";
import type { ChainEstimates, Config } from "../../../config/config.ts";
import { dustDeposit } from "../../../deposit/listDeposits.ts";
import type { ShownDeposit } from "../../../deposit/deposit.ts";
import { intentRecordWithRoutes } from "../../../intent/intentRecord.ts";
import { findPayoutPath } from "../../../intent/routes/payoutPath.ts";
import type { PinnedRoute } from "../../../intent/routes/routeSet.ts";
import type { IntentRow } from "../../../intent/store.ts";
import { payoutChain } from "../../../intent/payoutAsset.ts";
import { arrivedUnits, remainingUnits, roundUpToMillionth } from "../../../intent/progress/remainingUnits.ts";
import { caip10, caip19, caip2, displayAddress, namespaceOf, referenceOf, type Caip2 } from "../../../kernel/caip.ts";
import { fromUnixSeconds } from "../../../kernel/clock.ts";
import { formatUnits } from "../../../kernel/units.ts";
import type {
  CheckoutDeposit,
  CheckoutHold,
  CheckoutInbox,
  CheckoutMerchant,
  CheckoutState,
  HoldReason,
} from "@tributary/checkout/checkoutState";
import { determineStage, holdReason, shownExcessUnits } from "./stage.ts";
import { TRANSFERS_SHOWN_MAX, type StateRow, type TransferRow } from "./stateRows.ts";

export type StateContext = {
  catalog: Catalog;
  config: Pick<Config, "baseUrl" | "support">;
  now: Date;
  /** The intent's pinned routes. */
  routes: readonly PinnedRoute[];
};

const VERSION_CHARACTERS = 16;
const COUNTED_DOWN_MS_MAX = 60_000;
/** Of an id, behind its prefix. */
const PAYMENT_NUMBER = { start: 3, end: 11 };

/** What the page shows of a payment. A pure function. */
export function buildState(row: StateRow, context: StateContext): CheckoutState {
  const { intent } = row;
  const formatAmount = (units: bigint) => formatUnits(units, intent.payout_decimals);
  const shown = selectShown(row.transfers).map((transfer) => dustDeposit(context.catalog, { intent, row: transfer }));
  const remaining = remainingUnits(intent);
  const content = {
    intentId: intent.id,
    paymentNumber: intent.id.slice(PAYMENT_NUMBER.start, PAYMENT_NUMBER.end).toUpperCase(),
    stage: determineStage(row),
    isTest: !intent.livemode,
    merchant: toMerchant(row, context),
    description: intent.description,
    returnUrl: intent.return_url,
    symbol: symbolOf(context.catalog, payoutChain(intent), intent.payout_token),
    decimals: intent.payout_decimals,
    price: intent.price_token_units === null ? null : formatAmount(intent.price_token_units),
    remaining: remaining === null ? null : formatAmount(roundUpToMillionth(remaining, intent.payout_decimals)),
    remainingUnits: remaining?.toString() ?? null,
    arrived: formatAmount(arrivedUnits(intent)),
    counted: formatAmount(intent.counted_units),
    excess: formatAmount(shownExcessUnits(intent)),
    minimum: formatAmount(intent.minimum_units),
    belowMinimum: formatAmount(row.waitingUnits),
    deposits: shown.map((deposit) => toDeposit(row, deposit, context)),
    hasMoreDeposits: row.transfers.length > shown.length,
    held: findHold(row, shown, context),
    inboxes: listInboxes(row, context),
    // With the routes: the merchant's own check reads them in the frame.
    terms: intentRecordWithRoutes(intent, context.routes, context.config).inboxTerms,
    paidAt: paidAt(row)?.toISOString() ?? null,
    closedAt: (intent.settled_at ?? intent.archived_at)?.toISOString() ?? null,
  };
  const version = hash("sha256", JSON.stringify(content), "base64url").slice(0, VERSION_CHARACTERS);
  return { version, asOf: context.now.toISOString(), ...content };
}

/** The newest deposits, and the newest dust where there is room: nobody can hide a deposit behind a flood of dust. */
function selectShown(transfers: readonly TransferRow[]): TransferRow[] {
  const isDust = ({ id }: TransferRow) => id === null;
  const byWeight = [...transfers.filter((each) => !isDust(each)), ...transfers.filter(isDust)];
  const selected = new Set(byWeight.slice(0, TRANSFERS_SHOWN_MAX));
  return transfers.filter((each) => selected.has(each));
}

function toMerchant({ intent, merchantName, support, hasLogo }: StateRow, { config }: StateContext): CheckoutMerchant {
  return {
    name: merchantName,
    support: support ?? config.support ?? null,
    logo: hasLogo ? `/c/${intent.id}/logo` : null,
  };
}

function toDeposit(row: StateRow, deposit: ShownDeposit, context: StateContext): CheckoutDeposit {
  const { catalog } = context;
  const { intent, heads } = row;
  const head = heads.get(deposit.chain) ?? -1n;
  const reason = shownReason(intent, deposit, context);
  const isOnChain = deposit.status !== "dropped" && head >= deposit.block_number;
  const seenConfirmations = isOnChain ? Number(head - deposit.block_number) + 1 : 0;
  const required = deposit.required_confirmations;
  const isFinal = deposit.status === "counted" || deposit.status === "confirmed";
  const confirmations = isFinal ? (required ?? seenConfirmations) : Math.min(seenConfirmations, required ?? Infinity);
  const estimates = findWatchedChain(catalog, deposit.chain)?.estimates;
  return {
    depositId: deposit.id,
    status: reason === null || deposit.status === "dropped" ? shownStatus(deposit) : "held",
    reason: deposit.status === "dropped" ? null : reason,
    isLate: deposit.late,
    amount: formatUnits(deposit.amount_units, deposit.token_decimals),
    symbol: symbolOf(catalog, deposit.chain, deposit.token),
    networkName: networkName(catalog, deposit.chain),
    confirmations,
    required,
    secondsLeft:
      deposit.status === "seen"
        ? secondsLeft(estimates, { confirmations, required, requiredSeconds: deposit.required_seconds })
        : null,
    from: displayAddress(deposit.chain, deposit.sender),
    transfer: deposit.chain_tx,
    explorerUrl: transferUrl(catalog, deposit),
    seenAt: deposit.seen_at.toISOString(),
    countedAt: deposit.counted_at?.toISOString() ?? null,
  };
}

type AwaitedFinality = Pick<CheckoutDeposit, "confirmations" | "required"> & { requiredSeconds: number | null };

/**
 * Where the network's own finality decides, only while it is a matter of seconds: longer estimates are too rough to
 * count down.
 */
function secondsLeft(
  { blockMs, finalizedMs }: ChainEstimates = {},
  { confirmations, required, requiredSeconds }: AwaitedFinality,
): number | null {
  if (blockMs === undefined) return requiredSeconds;
  if (requiredSeconds !== null) return Math.max(1, Math.ceil(requiredSeconds - (confirmations * blockMs) / 1_000));
  if (required !== null) return Math.ceil(((required - confirmations) * blockMs) / 1_000);
  if (finalizedMs === undefined || finalizedMs > COUNTED_DOWN_MS_MAX) return null;
  const leftMs = finalizedMs - confirmations * blockMs;
  return leftMs > 0 ? Math.ceil(leftMs / 1_000) : null;
}

/** A deposit that only waits for more providers is on its way for its payer. */
function shownStatus({ status, reason }: ShownDeposit): CheckoutDeposit["status"] {
  return status === "held" && reason === "provider_agreement_pending" ? "confirmed" : status;
}

function transferUrl(catalog: Catalog, { chain, chain_tx }: ShownDeposit): string | null {
  const explorer = explorerOf(catalog, chain);
  if (explorer === null) return null;
  // A query, such as the cluster of an explorer for several, stays behind the path.
  const [path = "", query] = explorer.split("?");
  return `${path.replace(/\/+$/, "")}/tx/${chain_tx}${query === undefined ? "" : `?${query}`}`;
}

/** Without a trailing slash; null unless it is a web address. */
export function explorerOf(catalog: Catalog, chain: Caip2): string | null {
  const url = findChainDescription(catalog, chain)?.explorerUrl ?? "";
  return /^https?:\/\//.test(url) ? url.replace(/\/+$/, "") : null;
}

function symbolOf(catalog: Catalog, chain: Caip2, token: string): string {
  return findAsset(catalog, chain, token)?.symbol ?? displayAddress(chain, token);
}

function networkName(catalog: Catalog, chain: Caip2): string {
  return findChainDescription(catalog, chain)?.name ?? chain;
}

/**
 * On a network that the payment takes, the coin is wrong: a payer who blamed the network would send the same coin
 * again.
 */
function shownReason(intent: IntentRow, deposit: ShownDeposit, { routes }: StateContext): HoldReason | null {
  const reason = holdReason(intent, deposit);
  const isTaken = routes.some(({ chain }) => chain === deposit.chain);
  return reason === "wrong_network" && isTaken ? "wrong_token" : reason;
}

function findHold({ intent }: StateRow, deposits: readonly ShownDeposit[], context: StateContext): CheckoutHold | null {
  const { catalog, now } = context;
  for (const deposit of deposits) {
    const reason = deposit.status === "dropped" ? null : shownReason(intent, deposit, context);
    if (reason === null) continue;
    const isForeign = reason === "wrong_token" || reason === "wrong_network";
    const rescue = isForeign ? (deposit.chain === payoutChain(intent) ? "now" : "later") : "unknown";
    const from = fromUnixSeconds(intent.recover_after);
    const isWithinReach =
      namespaceOf(deposit.chain) === intent.payout_namespace
        ? intent.recovery !== zeroAddress
        : intent.hop_recovery !== null;
    const canRescue = rescue !== "unknown" && isWithinReach;
    const isLater = canRescue && rescue === "later" && from > now;
    return {
      depositId: deposit.id,
      reason,
      amount: formatUnits(deposit.amount_units, deposit.token_decimals),
      symbol: symbolOf(catalog, deposit.chain, deposit.token),
      networkName: networkName(catalog, deposit.chain),
      rescue: isLater ? "later" : canRescue ? "now" : "unknown",
      rescueFrom: isLater ? from.toISOString() : null,
    };
  }
  return null;
}

/** The payout's own inbox, and those issued elsewhere, each with the tokens that have a way to the payout. */
function listInboxes({ intent, inboxes }: StateRow, { catalog, config, routes }: StateContext): CheckoutInbox[] {
  const settleChain = payoutChain(intent);
  const issued = inboxes
    .map((inbox) => ({ ...inbox, chain: caip2(inbox.namespace, inbox.reference) }))
    .filter(({ chain }) => chain !== settleChain);
  const own = { chain: settleChain, address: intent.inbox_address, token: "" };
  return [own, ...issued].map(({ chain, address, token }, index) => ({
    namespace: namespaceOf(chain),
    reference: referenceOf(chain),
    networkName: networkName(catalog, chain),
    address: displayAddress(chain, address),
    caip10: caip10(chain, address),
    originIds: catalog.assets
      .filter((asset) => asset.isOrigin && asset.chain === chain)
      .filter((asset) => (token === "" ? findPayoutPath(intent, routes, asset) !== undefined : asset.token === token))
      .map((asset) => caip19(asset.chain, asset.token)),
    isPayoutInbox: index === 0,
    paymentRequestUrl: namespaceOf(chain) === "solana" ? `${config.baseUrl}/c/${intent.id}/solana-pay` : null,
  }));
}

/** When the payment became complete: the settlement of a one-time intent, else the last counted transfer. */
function paidAt(row: StateRow): Date | null {
  const { intent, transfers } = row;
  if (!["paid", "overpaid"].includes(determineStage(row))) return null;
  if (intent.settled_at !== null) return intent.settled_at;
  const counted = transfers.filter(({ reason }) => reason !== "no_route").flatMap((each) => each.counted_at ?? []);
  return counted.toSorted((one, other) => other.getTime() - one.getTime())[0] ?? null;
}
