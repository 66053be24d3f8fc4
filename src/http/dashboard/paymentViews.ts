import type { PaymentDetail } from "@tributary/dashboard/merchant/payment";
import type { PaymentRow, Sum } from "@tributary/dashboard/merchant/payments";
import { findAsset } from "../../catalog/catalog.ts";
import { listDeposits } from "../../deposit/listDeposits.ts";
import { intentRecordWithRoutes } from "../../intent/intentRecord.ts";
import { paymentStatus } from "../../intent/paymentStatus.ts";
import { findIntentRoutes } from "../../intent/routes/findRoutes.ts";
import type { IntentRow } from "../../intent/store.ts";
import { caip2, displayAddress } from "../../kernel/caip.ts";
import { formatUnits, PRICE_DECIMALS } from "../../kernel/units.ts";
import { listSettlements } from "../../settlement/store.ts";
import type { World } from "../../world.ts";

type ViewWorld = Pick<World, "db" | "config" | "catalog" | "memory">;

/** Rows of each kind that one payment's page shows. */
const ROWS_MAX = 100;

/** The chain and the coin of an intent's payout. */
function payoutOf({ catalog }: Pick<World, "catalog">, intent: IntentRow) {
  const chain = caip2(intent.payout_namespace, intent.payout_chain_reference);
  const symbol = findAsset(catalog, chain, intent.payout_token)?.symbol ?? intent.payout_token;
  const toSum = (units: bigint): Sum => ({ decimal: formatUnits(units, intent.payout_decimals), symbol });
  return { chain, symbol, toSum };
}

export function toPaymentRow(world: Pick<World, "catalog">, intent: IntentRow): PaymentRow {
  const { symbol, toSum } = payoutOf(world, intent);
  const { price_units: price } = intent;
  return {
    intentId: intent.id,
    merchantReference: intent.merchant_reference,
    description: intent.description,
    status: intent.status,
    paymentStatus: paymentStatus(intent),
    price: price === null ? null : { decimal: formatUnits(price, PRICE_DECIMALS), symbol },
    received: toSum(intent.received_units),
    net: toSum(intent.net_units),
    createdAt: intent.created_at.toISOString(),
  };
}

/** Everything that the page of one payment shows. `intent` is the account's own. */
export async function readPaymentDetail(world: ViewWorld, intent: IntentRow): Promise<PaymentDetail> {
  const [deposits, settlements, routes] = await Promise.all([
    listDeposits(world, { intent, limit: ROWS_MAX }),
    listSettlements(world.db, { intentId: intent.id, belowSeq: undefined, limit: ROWS_MAX }),
    findIntentRoutes({ db: world.db.root, memory: world.memory }, intent),
  ]);
  const { chain, toSum } = payoutOf(world, intent);
  const nameOf = (id: string) => world.config.chains.find((each) => each.caip2 === id)?.name ?? id;
  const sumOf = (of: { chain: string; token: string }, units: bigint, decimals?: number): Sum => {
    const asset = findAsset(world.catalog, of.chain, of.token);
    return { decimal: formatUnits(units, decimals ?? asset?.decimals ?? 0), symbol: asset?.symbol ?? of.token };
  };
  return {
    payment: toPaymentRow(world, intent),
    counted: toSum(intent.counted_units),
    settled: toSum(intent.settled_units),
    fee: toSum(intent.fee_units),
    inboxAddress: displayAddress(chain, intent.inbox_address),
    payoutWallet: displayAddress(chain, intent.payout_wallet),
    deposits: deposits.map((each) => ({
      depositId: each.id,
      amount: sumOf(each, each.amount_units, each.token_decimals),
      chainName: nameOf(each.chain),
      sender: displayAddress(each.chain, each.sender),
      status: each.status,
      reason: each.reason,
      txHash: each.chain_tx,
      seenAt: each.seen_at.toISOString(),
      countedAt: each.counted_at?.toISOString() ?? null,
    })),
    settlements: settlements.map((each) => ({
      settlementId: each.id,
      net: each.net_units === null ? null : sumOf(each, each.net_units),
      chainName: nameOf(each.chain),
      status: each.status,
      reason: each.reason,
      txHash: each.landed_chain_tx ?? each.chain_tx,
      createdAt: each.created_at.toISOString(),
      submittedAt: each.submitted_at?.toISOString() ?? null,
      landedAt: each.landed_at?.toISOString() ?? null,
    })),
    settledAt: intent.settled_at?.toISOString() ?? null,
    archivedAt: intent.archived_at?.toISOString() ?? null,
    rowsMax: ROWS_MAX,
    raw: JSON.stringify(intentRecordWithRoutes(intent, routes, world.config), undefined, 2),
  };
}
