import { computeInboxAddress } from "@tributary/inbox/address";
import { cctpV2Chains } from "@tributary/inbox/cctpV2Chains";
import { buildCctpV2Routes } from "@tributary/inbox/cctpV2Routes";
import { checksumAddress } from "@tributary/inbox/checksum";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import type { Terms } from "@tributary/inbox/terms";
import { routesToWire, termsToWire } from "@tributary/inbox/wire";
import type { DepositRecord } from "../../deposit/depositRecord.ts";
import type { OriginListing, OriginRecord, RailRecord } from "../../inbox/listOrigins.ts";
import type { SourceInboxRecord } from "../../inbox/issueSourceInbox.ts";
import type { IntentRecord } from "../../intent/intentRecord.ts";
import type { SettlementRecord } from "../../settlement/change/settlementRecord.ts";

// Examples for the document and the reference: one payment of 25 USDC on Base, from creation to settlement. The inbox
// address is computed from its terms, so readers can verify it.

const NETWORK = { namespace: "eip155", chainReference: "8453", railId: "base:usdc" } as const;
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const PAYER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const TX_IN = "0x6f0d7a1c6b2e4c8a9d53f1e0b7c4a2d8e9f60a1b2c3d4e5f60718293a4b5c6d7";
const TX_OUT = "0x1b9e4f7a20c35d6881f2a4b3c7d9e0f513264758697a8b9cadbecfd0e1f20314";
const CAIP19 = `eip155:8453/erc20:${USDC}`;
const TOKEN = { symbol: "USDC", address: USDC, decimals: 6 };

export const EXAMPLE_INTENT_ID = "pi_3x7m9q2k5v8w1y4z6b0c3d5f7g";
const DEPOSIT_ID = "dep_7n2r5t8v1x4z6b9d0f3h5k8m2q";
const SETTLEMENT_ID = "set_1c4e6g9j2m5p7r0t3v6x8z1b4d";

/** Deposits on Arbitrum and Avalanche reach Base. */
const ROUTES = buildCctpV2Routes({
  settle: { chainId: 8453n, domain: 6 },
  origins: cctpV2Chains.filter(({ chainId }) => chainId === 42_161n || chainId === 43_114n),
});

const TERMS: Terms = {
  salt: "0x9a1f4c7e2b5d8063f1e4a7c0d3b6895e2c8f1a4b7d0e3f6c9a2b5d8e1f4a7c0b",
  settleChainId: 8453n,
  settleToken: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  payout: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
  feeRecipient: "0xdbf03b407c01e7cd3cbea99509d93f8dddc8c6fb",
  feeBps: 50,
  recovery: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
  recoverAfter: 1_798_761_600,
  routesRoot: computeRoutesRoot(ROUTES),
};

const INBOX = checksumAddress(computeInboxAddress(TERMS));

/** The intent as returned at creation. */
export const intentExample: IntentRecord = {
  object: "payment_intent",
  intentId: EXAMPLE_INTENT_ID,
  inboxAddress: INBOX,
  created: true,
  livemode: true,
  status: "active",
  paymentStatus: "unpaid",
  priceUnits: 25_000_000,
  oneTime: true,
  merchantReference: "order 4711",
  metadata: { customer: "c-4711", basket: { items: 3 } },
  returnUrl: "https://shop.example/orders/4711",
  description: "Two seats, row 7",
  payout: {
    namespace: NETWORK.namespace,
    chainReference: NETWORK.chainReference,
    wallet: WALLET,
    tokenAddress: USDC,
    decimals: 6,
    railId: NETWORK.railId,
    caip10: `eip155:8453:${WALLET}`,
    caip19: CAIP19,
  },
  feeBps: 50,
  amounts: {
    priceUnits: "25000000",
    receivedUnits: "0",
    countedUnits: "0",
    remainingUnits: "25000000",
    shortfallUnits: "25000000",
    excessUnits: "0",
    settledUnits: "0",
    feeUnits: "0",
    netUnits: "0",
  },
  inboxTerms: { ...termsToWire(TERMS), routes: routesToWire(ROUTES) },
  checkoutUrl: `https://pay.example/c/${EXAMPLE_INTENT_ID}`,
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z",
  settledAt: null,
  archivedAt: null,
};

export const widgetTokenExample = "wt_Jx2qVw8nTz5mRk1bYc7pLf4dHs9gEa3uNo6iXv0tQyA";

/** The same intent after its settlement has landed. */
export const settledIntentExample: IntentRecord = {
  ...intentExample,
  created: false,
  status: "settled",
  paymentStatus: "paid",
  amounts: {
    ...intentExample.amounts,
    receivedUnits: "25000000",
    countedUnits: "25000000",
    remainingUnits: "0",
    shortfallUnits: "0",
    settledUnits: "25000000",
    feeUnits: "125000",
    netUnits: "24875000",
  },
  updatedAt: "2026-11-21T09:34:12.000Z",
  settledAt: "2026-11-21T09:33:40.000Z",
};

/** The same intent as a list shows it: with the root of its routes alone. */
export const listedIntentExample: IntentRecord = { ...settledIntentExample, inboxTerms: termsToWire(TERMS) };

export const archivedIntentExample: IntentRecord = {
  ...intentExample,
  created: false,
  status: "archived",
  updatedAt: "2026-11-22T08:00:00.000Z",
  archivedAt: "2026-11-22T08:00:00.000Z",
};

export const depositExample: DepositRecord = {
  object: "deposit",
  depositId: DEPOSIT_ID,
  intentId: EXAMPLE_INTENT_ID,
  status: "counted",
  amountUnits: "25000000",
  countedUnits: "25000000",
  token: TOKEN,
  caip19: CAIP19,
  from: PAYER,
  txHash: TX_IN,
  position: 0,
  blockNumber: 38_214_907,
  blockHash: "0x4c8a2e6f0b3d7195c2e8f4a6d0b3c7e91f5a28d4b6c0e3f7195a8d2c4e6f0b13",
  confirmations: 14,
  requiredConfirmations: 6,
  requiredSeconds: null,
  late: false,
  reason: null,
  settlementId: SETTLEMENT_ID,
  seenAt: "2026-11-21T09:33:28.000Z",
  countedAt: "2026-11-21T09:33:40.000Z",
};

export const settlementExample: SettlementRecord = {
  object: "settlement",
  settlementId: SETTLEMENT_ID,
  intentId: EXAMPLE_INTENT_ID,
  status: "landed",
  caip19: CAIP19,
  grossUnits: "25000000",
  feeUnits: "125000",
  routeCostUnits: "0",
  netUnits: "24875000",
  reason: null,
  txs: [{ txHash: TX_OUT, chain: "eip155:8453", blockNumber: 38_214_928 }],
  createdAt: "2026-11-21T09:33:41.000Z",
  submittedAt: "2026-11-21T09:33:42.000Z",
  landedAt: "2026-11-21T09:34:12.000Z",
};

const originExample: OriginRecord = {
  namespace: "eip155",
  reference: "8453",
  chainId: 8453,
  name: "Base",
  shortName: "base",
  publicRpcUrl: "https://mainnet.base.org",
  explorerUrl: "https://basescan.org",
  nativeName: "Ether",
  nativeSymbol: "ETH",
  nativeDecimals: 18,
  token: TOKEN,
  caip19: CAIP19,
  minimumUnits: "500000",
  minimumDisplay: "0.5",
  depositIssuable: true,
};

const railExample: RailRecord = {
  id: NETWORK.railId,
  namespace: "eip155",
  reference: "8453",
  chainId: 8453,
  chainName: "Base",
  token: TOKEN,
  explorerUrl: "https://basescan.org",
  status: "live",
  default: true,
};

export const originsExample: OriginListing = {
  origins: [originExample],
  settleRails: [railExample],
  sourceDepositIssuable: true,
};

export const sourceInboxExample: SourceInboxRecord = { address: INBOX, caip10: `eip155:8453:${INBOX}` };

export const selectionExample = { namespace: "eip155", reference: "8453", tokenAddress: USDC };

/** Wraps an entry as a single, last page. */
export function pageExample(entry: object): object {
  return { object: "list", data: [entry], has_more: false, next_cursor: "" };
}
