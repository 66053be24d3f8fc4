import { payoutChain } from "./payoutAsset.ts";
import { checksumAddress } from "@tributary/inbox/checksum";
import { currentHub, findHub, firstHub } from "@tributary/inbox/hubs";
import type { Hex } from "@tributary/inbox/terms";
import { routesToWire, termsToWire, type InboxTerms } from "@tributary/inbox/wire";
import type { IntentStatus } from "./intentTables.ts";
import { caip10, caip19, displayAddress, type Namespace } from "../kernel/caip.ts";
import { excessUnits, paymentStatus, shortfallUnits, type PaymentStatus } from "./paymentStatus.ts";
import { remainingUnits } from "./progress/remainingUnits.ts";
import { hopsOf, leavesOf, toRoute, type PinnedRoute } from "./routes/routeSet.ts";
import type { IntentRow, NewIntent } from "./store.ts";
import { toInboxTerms } from "./inboxTerms.ts";
import { toHopWireTerms, type SolanaHopWireTerms } from "./pins/hopInbox.ts";
import {
  tokenAccountRecord,
  toSolanaWireTerms,
  type SolanaPayWireTerms,
  type TokenAccountRecord,
} from "./pins/ownInbox.ts";

/**
 * An intent as the API, the events and the webhooks show it. Amounts are integer texts in the payout token's smallest
 * units.
 */
export type IntentRecord = TokenAccountRecord & {
  object: "payment_intent";
  intentId: string;
  inboxAddress: string;
  created: boolean;
  livemode: boolean;
  status: IntentStatus;
  paymentStatus: PaymentStatus;
  /** Millionths of the payout currency; null when open-ended. */
  priceUnits: number | null;
  oneTime: boolean;
  merchantReference: string | null;
  metadata: unknown;
  /** Where the checkout page links back to; null without one. */
  returnUrl: string | null;
  /** What the checkout page shows the payer; null without one. */
  description: string | null;
  payout: PayoutRecord;
  feeBps: number;
  amounts: AmountsRecord;
  inboxTerms: InboxTermsRecord;
  /** Without the widget token, which the merchant appends as the fragment. */
  checkoutUrl: string;
  createdAt: string;
  updatedAt: string;
  settledAt: string | null;
  archivedAt: string | null;
};

type InboxTermsRecord = Omit<InboxTerms, "solana"> & {
  solana?: SolanaPayWireTerms | undefined;
  /** Of the inboxes on Solana that cross to the payout's chain. */
  solanaRoutes?: readonly SolanaHopWireTerms[] | undefined;
};

type PayoutRecord = {
  namespace: Namespace;
  chainReference: string;
  wallet: string;
  tokenAddress: string;
  decimals: number;
  railId: string;
  caip10: string;
  caip19: string;
};

type AmountsRecord = {
  priceUnits: string | null;
  receivedUnits: string;
  countedUnits: string;
  remainingUnits: string | null;
  shortfallUnits: string;
  excessUnits: string;
  settledUnits: string;
  feeUnits: string;
  netUnits: string;
};

/** `baseUrl` is the public URL of this service, without a trailing slash. */
export type IntentRecordContext = { readonly baseUrl: string };

/** Renders an intent for reads. `created` is false here; only the create that makes the intent sets it to true. */
export function intentRecord(row: NewIntent, context: IntentRecordContext): IntentRecord {
  const chain = payoutChain(row);
  return {
    object: "payment_intent",
    intentId: row.id,
    inboxAddress: displayAddress(chain, row.inbox_address),
    ...tokenAccountRecord(row),
    created: false,
    livemode: row.livemode,
    status: row.status,
    paymentStatus: paymentStatus(row),
    priceUnits: row.price_units === null ? null : Number(row.price_units),
    oneTime: row.one_time,
    merchantReference: row.merchant_reference,
    metadata: row.metadata,
    returnUrl: row.return_url,
    description: row.description,
    payout: {
      namespace: row.payout_namespace,
      chainReference: row.payout_chain_reference,
      wallet: displayAddress(chain, row.payout_wallet),
      tokenAddress: displayAddress(chain, row.payout_token),
      decimals: row.payout_decimals,
      railId: row.rail_id,
      caip10: caip10(chain, row.payout_wallet),
      caip19: caip19(chain, row.payout_token),
    },
    feeBps: row.fee_bps,
    amounts: amountsRecord(row),
    inboxTerms: toWireTerms(row),
    checkoutUrl: `${context.baseUrl}/c/${row.id}`,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    settledAt: row.settled_at?.toISOString() ?? null,
    archivedAt: row.archived_at?.toISOString() ?? null,
  };
}

/** The terms of the EVM inbox, and those of the inbox on Solana for a payout there. */
function toWireTerms(row: NewIntent): InboxTermsRecord {
  const solana = toSolanaWireTerms(row);
  // An intent without an inbox on EVM chains pins no hub.
  if (solana !== undefined)
    return { ...termsToWire(toInboxTerms(row), findHub(row.hop_hub ?? "") ?? currentHub), solana };
  return {
    ...termsToWire(toInboxTerms(row), findHub(row.inbox_hub) ?? firstHub),
    hub: checksumAddress(row.inbox_hub as Hex),
    implementation: checksumAddress(row.inbox_implementation as Hex),
  };
}

/** Renders an intent for an answer that is about it alone: with the routes that its inbox address commits to. */
export function intentRecordWithRoutes(
  row: IntentRow,
  routes: readonly PinnedRoute[],
  context: IntentRecordContext,
): IntentRecord {
  const record = intentRecord(row, context);
  const [leaves, hops] = [leavesOf(routes), hopsOf(routes)];
  const inboxTerms = {
    ...record.inboxTerms,
    ...(leaves.length > 0 && { routes: routesToWire(leaves.map(toRoute)) }),
    ...(hops.length > 0 && { solanaRoutes: hops.map((hop) => toHopWireTerms(row, hop)) }),
  };
  return { ...record, inboxTerms };
}

function amountsRecord(row: NewIntent): AmountsRecord {
  return {
    priceUnits: row.price_token_units?.toString() ?? null,
    receivedUnits: row.received_units.toString(),
    countedUnits: row.counted_units.toString(),
    remainingUnits: remainingUnits(row)?.toString() ?? null,
    shortfallUnits: shortfallUnits(row).toString(),
    excessUnits: excessUnits(row).toString(),
    settledUnits: row.settled_units.toString(),
    feeUnits: row.fee_units.toString(),
    netUnits: row.net_units.toString(),
  };
}
