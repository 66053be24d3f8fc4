import { findAsset, findChainDescription } from "../../catalog/catalog.ts";
import { isPayoutAsset, payoutChain } from "../../intent/payoutAsset.ts";
import type { ShownDeposit } from "../../deposit/deposit.ts";
import { listDeposits } from "../../deposit/dust/listDeposits.ts";
import { paymentStatus } from "../../intent/paymentStatus.ts";
import type { IntentRow } from "../../intent/store.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { formatUnits } from "../../kernel/units.ts";
import { findAccount } from "../../merchant/store.ts";
import { listCursors } from "../../watch/store/store.ts";
import type { World } from "../../world.ts";
import { buildPaymentUri } from "./paymentUri.ts";

/** The progress of a payment, as the payer sees it. A partial payment returns to "waiting" for the remaining amount. */
type CheckoutStage = "waiting" | "seen" | "confirmed" | "paid" | "closed";

/** The data of the page. Amounts are decimals in the payout token. */
export type CheckoutStatus = {
  stage: CheckoutStage;
  merchant: string;
  isTest: boolean;
  symbol: string;
  tokenAddress: string;
  chainName: string;
  address: string;
  /** Null for an open-ended intent, where the payer chooses the amount. */
  price: string | null;
  /** The price minus all received amounts, pending ones included; null for an open-ended intent. */
  remaining: string | null;
  received: string;
  counted: string;
  /** The payment URI for a wallet. It changes with the remaining amount. */
  paymentUri: string;
  deposits: CheckoutDeposit[];
};

type CheckoutDeposit = {
  status: string;
  amount: string;
  symbol: string;
  confirmations: number;
  requiredConfirmations: number | null;
  /** Null when the chain has no explorer. */
  explorerUrl: string | null;
};

type StatusWorld = Pick<World, "db" | "catalog">;

const DEPOSITS_MAX = 20;

export async function readCheckoutStatus(world: StatusWorld, intent: IntentRow): Promise<CheckoutStatus> {
  const { catalog } = world;
  const chain = payoutChain(intent);
  const deposits = await listDeposits(world, { intent, limit: DEPOSITS_MAX });
  const heads = new Map((await listCursors(world.db)).map((cursor) => [cursor.chain, cursor.number]));
  const formatAmount = (units: bigint) => formatUnits(units, intent.payout_decimals);
  const missing = remainingUnits(intent);
  return {
    stage: determineStage(intent, deposits),
    merchant: (await findAccount(world.db, intent.account_id))?.name ?? "",
    isTest: !intent.livemode,
    symbol: findAsset(catalog, chain, intent.payout_token)?.symbol ?? intent.payout_token,
    tokenAddress: displayAddress(chain, intent.payout_token),
    chainName: findChainDescription(catalog, chain)?.name ?? chain,
    address: displayAddress(chain, intent.inbox_address),
    price: intent.price_token_units === null ? null : formatAmount(intent.price_token_units),
    remaining: missing === undefined ? null : formatAmount(missing),
    received: formatAmount(intent.received_units),
    counted: formatAmount(intent.counted_units),
    paymentUri: buildPaymentUri(intent, missing),
    deposits: deposits.map((deposit) => toCheckoutDeposit(world, deposit, heads.get(deposit.chain))),
  };
}

/** The price minus everything received, counted or not; undefined without a price. */
export function remainingUnits(intent: IntentRow): bigint | undefined {
  if (intent.price_token_units === null) return undefined;
  const missing = intent.price_token_units - intent.received_units;
  return missing > 0n ? missing : 0n;
}

function determineStage(intent: IntentRow, deposits: readonly ShownDeposit[]): CheckoutStage {
  if (["paid", "overpaid"].includes(paymentStatus(intent))) return "paid";
  if (intent.status !== "active") return "closed";
  // A payment that still lacks money stays at "waiting", whatever else is pending.
  if ((remainingUnits(intent) ?? 0n) > 0n) return "waiting";
  const open = deposits.filter((deposit) => isPayoutAsset(intent, deposit));
  if (open.some((deposit) => deposit.status === "seen")) return "seen";
  return open.some((deposit) => deposit.status === "confirmed" || deposit.status === "counted")
    ? "confirmed"
    : "waiting";
}

function toCheckoutDeposit(world: StatusWorld, deposit: ShownDeposit, head: bigint | undefined): CheckoutDeposit {
  const explorer = findChainDescription(world.catalog, deposit.chain)?.explorerUrl ?? "";
  const isNotOnChain = deposit.status === "dropped" || head === undefined || head < deposit.block_number;
  return {
    status: deposit.status,
    amount: formatUnits(deposit.amount_units, deposit.token_decimals),
    symbol: findAsset(world.catalog, deposit.chain, deposit.token)?.symbol ?? deposit.token,
    confirmations: isNotOnChain ? 0 : Number(head - deposit.block_number) + 1,
    requiredConfirmations: deposit.required_confirmations,
    explorerUrl: /^https?:\/\//.test(explorer) ? `${explorer}/tx/${deposit.chain_tx}` : null,
  };
}
