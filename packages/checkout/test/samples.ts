import { computeInboxAddress } from "@tributary/inbox/address";
import { checksumAddress } from "@tributary/inbox/checksum";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { findSolanaProgram } from "@tributary/inbox/solana/program";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import { termsToWire } from "@tributary/inbox/wire";
import type {
  CheckoutDeposit,
  CheckoutHold,
  CheckoutInbox,
  CheckoutOrigin,
  CheckoutOrigins,
  CheckoutPage,
  CheckoutState,
} from "../src/checkoutState.ts";

// One sample of every state that the page tells, with an address that follows from its terms.

const AS_OF = "2026-11-22T14:32:00.000Z";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const ORIGIN_ID = `eip155:8453/erc20:${USDC}`;

const terms = {
  salt: `0x${"5a".repeat(32)}`,
  settleChainId: 8_453n,
  settleToken: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  payout: "0x1111111111111111111111111111111111111111",
  feeRecipient: "0x2222222222222222222222222222222222222222",
  feeBps: 50,
  recovery: "0x1111111111111111111111111111111111111111",
  recoverAfter: 1_811_808_000,
  routesRoot: `0x${"00".repeat(32)}`,
} as const;

export const SAMPLE_ADDRESS = checksumAddress(computeInboxAddress(terms));

const state: CheckoutState = {
  version: "1",
  asOf: AS_OF,
  intentId: "pi_sample",
  paymentNumber: "7QK4M2ZD",
  stage: "waiting",
  isTest: false,
  merchant: { name: "Harbor Books", support: "mailto:help@harbor.example", logo: null },
  description: "The Tidal Atlas, hardcover",
  returnUrl: "https://harbor.example/orders/4711",
  symbol: "USDC",
  decimals: 6,
  price: "25",
  remaining: "25",
  remainingUnits: "25000000",
  arrived: "0",
  counted: "0",
  excess: "0",
  minimum: "1",
  belowMinimum: "0",
  deposits: [],
  hasMoreDeposits: false,
  held: null,
  inboxes: [
    {
      namespace: "eip155",
      reference: "8453",
      networkName: "Base",
      address: SAMPLE_ADDRESS,
      caip10: `eip155:8453:${SAMPLE_ADDRESS}`,
      originIds: [ORIGIN_ID],
      isPayoutInbox: true,
      paymentRequestUrl: null,
    },
  ],
  terms: termsToWire(terms),
  paidAt: null,
  closedAt: null,
};

const deposit: CheckoutDeposit = {
  depositId: "dep_1",
  status: "counted",
  reason: null,
  isLate: false,
  amount: "25",
  symbol: "USDC",
  networkName: "Base",
  confirmations: 12,
  required: 12,
  secondsLeft: null,
  from: "0xA41f00000000000000000000000000000000077e0".slice(0, 42),
  transfer: `0x${"8f".repeat(32)}`,
  explorerUrl: `https://explorer.example/tx/0x${"8f".repeat(32)}`,
  seenAt: "2026-11-22T14:31:00.000Z",
  countedAt: AS_OF,
};

const everything = { remaining: "0", remainingUnits: "0", arrived: "25" } as const;
const seenDeposit = { ...deposit, status: "seen", confirmations: 3, secondsLeft: 20, countedAt: null } as const;

function hold(changes: Partial<CheckoutHold> & Pick<CheckoutHold, "reason">): Partial<CheckoutState> {
  const held = {
    depositId: "dep_1",
    amount: "25",
    symbol: "USDC",
    networkName: "Base",
    rescue: "now",
    rescueFrom: null,
    ...changes,
  } as const;
  const { amount, symbol, networkName, reason } = held;
  return { stage: "held", held, deposits: [{ ...deposit, status: "held", reason, amount, symbol, networkName }] };
}

function origin(symbol: string, networkName: string, changes: Partial<CheckoutOrigin> = {}): CheckoutOrigin {
  const networkSlug = networkName.toLowerCase();
  return {
    originId: `${networkSlug}/${symbol}`,
    namespace: "eip155",
    reference: "1",
    chainId: 1,
    networkName,
    networkSlug,
    symbol,
    tokenAddress: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    decimals: 6,
    minimum: "1",
    isPayout: false,
    isPayoutNetwork: networkName === "Base",
    isTestNetwork: false,
    isIssuable: true,
    reason: null,
    expectedSeconds: 60,
    feeUsdMax: "0.02",
    explorerUrl: "https://explorer.example",
    publicRpcUrl: "https://rpc.example",
    native: { name: "Ether", symbol: "ETH", decimals: 18 },
    ...changes,
  };
}

const payoutOrigin = origin("USDC", "Base", {
  originId: ORIGIN_ID,
  reference: "8453",
  chainId: 8_453,
  tokenAddress: USDC,
  isPayout: true,
  expectedSeconds: 20,
  feeUsdMax: "0.01",
});

export const SAMPLE_ORIGINS: CheckoutOrigins = {
  isIssuable: true,
  origins: [
    payoutOrigin,
    origin("EURC", "Base", { expectedSeconds: 20, feeUsdMax: "0.01" }),
    origin("USDC", "Arbitrum"),
    origin("USDC", "Ethereum", { expectedSeconds: 180, feeUsdMax: "1.2" }),
    origin("USDC", "Optimism", { expectedSeconds: null, feeUsdMax: null }),
    origin("USDC", "Polygon", { isIssuable: false, reason: "paused" }),
    origin("USDT", "Ethereum", { originId: "ethereum/USDT", isIssuable: false, reason: "not_accepted" }),
  ],
};

/** Changes to the sample for each state of a payment. */
const PAYMENTS: Readonly<Record<string, Partial<CheckoutState>>> = {
  ready: {},
  openEnded: { price: null, remaining: null, remainingUnits: null },
  longSum: { price: "1234567.123456", remaining: "1234567.123456", remainingUnits: "1234567123456" },
  test: { isTest: true },
  undone: { deposits: [{ ...deposit, status: "dropped", confirmations: 0, countedAt: null }] },
  underpaid: {
    stage: "underpaid",
    arrived: "20",
    counted: "20",
    remaining: "5",
    remainingUnits: "5000000",
    deposits: [{ ...deposit, amount: "20" }],
  },
  seen: { ...everything, stage: "seen", deposits: [seenDeposit] },
  seenManyBlocks: { ...everything, stage: "seen", deposits: [{ ...seenDeposit, confirmations: 30, required: 64 }] },
  seenFinality: { ...everything, stage: "seen", deposits: [{ ...seenDeposit, required: null, secondsLeft: null }] },
  many: {
    ...everything,
    stage: "many",
    counted: "20",
    deposits: [
      { ...seenDeposit, depositId: "dep_3", amount: "5", confirmations: 4 },
      { ...deposit, depositId: "dep_2", amount: "12" },
      { ...deposit, amount: "8" },
    ],
  },
  paid: { ...everything, stage: "paid", counted: "25", deposits: [deposit], paidAt: AS_OF, closedAt: AS_OF },
  overpaid: {
    ...everything,
    stage: "overpaid",
    arrived: "30",
    counted: "30",
    excess: "5",
    deposits: [{ ...deposit, amount: "30" }],
    paidAt: AS_OF,
    closedAt: AS_OF,
  },
  late: { ...everything, stage: "late", deposits: [{ ...deposit, isLate: true }], closedAt: AS_OF },
  closedEarly: {
    stage: "late",
    arrived: "20",
    counted: "20",
    deposits: [{ ...deposit, amount: "20" }],
    closedAt: AS_OF,
  },
  wrongToken: hold({ reason: "wrong_token", symbol: "USDT" }),
  wrongNetwork: hold({
    reason: "wrong_network",
    networkName: "Polygon",
    rescue: "later",
    rescueFrom: "2027-06-01T00:00:00.000Z",
  }),
  noRescue: hold({ reason: "wrong_token", symbol: "USDT", rescue: "unknown" }),
  disagree: hold({ reason: "providers_disagree" }),
  belowMinimum: {
    ...hold({ reason: "below_minimum", amount: "0.5" }),
    remaining: "24.5",
    remainingUnits: "24500000",
  },
  archived: { stage: "archived", closedAt: AS_OF },
  hostile: {
    merchant: { name: '<img src=x onerror="document.title=1">"\'&amp;', support: "javascript:alert(1)", logo: null },
    description: "</script><script>document.title=2</script>\u202Egnp.exe",
    returnUrl: "javascript:document.title=3",
  },
};

const CLUSTER = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const SOLANA_ORIGIN_ID = `solana:${CLUSTER}/token:${SOLANA_USDC}`;
const solanaPrograms = { program: findSolanaProgram(CLUSTER) ?? "", tokenProgram };
const solanaTerms = {
  kind: "pay",
  salt: terms.salt,
  mint: SOLANA_USDC,
  payout: "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj",
  feeAccount: "3eAkPrW1fWERJjxWb2gxCNVLMNC4UC5XfJnLQBqb4idw",
  feeBps: 50,
  rentRecipient: "FcjfSXfyM9aeHLkuxmqCS77BARyGwkur3f4ThjmsJb1v",
  recovery: "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj",
  recoverAfter: terms.recoverAfter,
} as const;

export const SOLANA_ADDRESS = computeSolanaInbox(solanaTerms, solanaPrograms).address;

const solanaInbox: CheckoutInbox = {
  namespace: "solana",
  reference: CLUSTER,
  networkName: "Solana",
  address: SOLANA_ADDRESS,
  caip10: `solana:${CLUSTER}:${SOLANA_ADDRESS}`,
  originIds: [SOLANA_ORIGIN_ID],
  isPayoutInbox: true,
  paymentRequestUrl: "https://checkout.example/c/pi_sample/solana-pay",
};

const solanaDeposit = {
  networkName: "Solana",
  required: null,
  from: "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj",
  transfer: "3".repeat(88),
  explorerUrl: `https://explorer.example/tx/${"3".repeat(88)}`,
} as const;

const onSolana: Partial<CheckoutState> = {
  minimum: "0.5",
  inboxes: [solanaInbox],
  terms: { ...state.terms, solana: solanaTermsToWire(solanaTerms, solanaPrograms) },
};

/** Payments on Solana, which have origins of their own. */
const SOLANA_PAYMENTS: Readonly<Record<string, Partial<CheckoutState>>> = {
  solana: {},
  solanaOpenEnded: { price: null, remaining: null, remainingUnits: null },
  solanaUnderpaid: {
    stage: "underpaid",
    arrived: "20",
    counted: "20",
    remaining: "5",
    remainingUnits: "5000000",
    deposits: [{ ...deposit, ...solanaDeposit, amount: "20" }],
  },
  solanaSeen: {
    ...everything,
    stage: "seen",
    deposits: [{ ...seenDeposit, ...solanaDeposit, confirmations: 4, secondsLeft: 12 }],
  },
  solanaForged: { inboxes: [{ ...solanaInbox, address: solanaTerms.payout }] },
};

const SOLANA_ORIGINS: CheckoutOrigins = {
  isIssuable: true,
  origins: [
    origin("USDC", "Solana", {
      originId: SOLANA_ORIGIN_ID,
      namespace: "solana",
      reference: CLUSTER,
      chainId: 101,
      tokenAddress: SOLANA_USDC,
      minimum: "0.5",
      isPayout: true,
      isPayoutNetwork: true,
      expectedSeconds: 13,
      feeUsdMax: "0.01",
      publicRpcUrl: "https://rpc.solana.example",
      native: { name: "Solana", symbol: "SOL", decimals: 9 },
    }),
    origin("USDC", "Base", { isPayoutNetwork: false, isIssuable: false, reason: "not_accepted" }),
  ],
};

const page: CheckoutPage = {
  intentId: state.intentId,
  locale: "en",
  theme: null,
  mode: "page",
  state: null,
  origins: null,
  refusal: null,
  brandCss: "",
  logo: null,
};

/** A page of every state, by its name. */
export const SAMPLES: ReadonlyMap<string, CheckoutPage> = new Map<string, CheckoutPage>([
  ["opening", page],
  ...Object.entries(PAYMENTS).map(([name, changes]): [string, CheckoutPage] => [
    name,
    { ...page, state: { ...state, ...changes }, origins: name === "archived" ? null : SAMPLE_ORIGINS },
  ]),
  ...Object.entries(SOLANA_PAYMENTS).map(([name, changes]): [string, CheckoutPage] => [
    name,
    { ...page, state: { ...state, ...onSolana, ...changes }, origins: SOLANA_ORIGINS },
  ]),
  ["refused", { ...page, state: withAddress("0x2222222222222222222222222222222222222222"), origins: SAMPLE_ORIGINS }],
  ["paused", { ...page, state, origins: withPausedPayout() }],
  ["stale", { ...page, refusal: "replaced" }],
  ["ended", { ...page, refusal: "expired" }],
  ["unknown", { ...page, refusal: "unknown" }],
]);

/** The state of a payment whose address somebody changed. */
function withAddress(address: string): CheckoutState {
  return { ...state, inboxes: state.inboxes.map((inbox) => ({ ...inbox, address })) };
}

/** The payout's own network cannot be watched for the moment. */
function withPausedPayout(): CheckoutOrigins {
  const origins = SAMPLE_ORIGINS.origins.map((each) =>
    each.isPayout ? ({ ...each, isIssuable: false, reason: "paused" } as const) : each,
  );
  return { ...SAMPLE_ORIGINS, origins };
}
