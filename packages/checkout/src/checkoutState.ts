import type { InboxTerms } from "@tributary/inbox/wire";

// The contract of the checkout page: what its routes return, and what the server passes to the renderer. Types alone,
// because the page's script has them too. Every text of a merchant (name, description) is plain text, never HTML. Times
// are ISO 8601 UTC.
//
// All routes lie below /c/{intentId}/. A session is a cookie, or `Authorization: Bearer <bearer>` where a frame keeps
// it in memory. Errors have the API's envelope {error: {code, message, request_id, details?, retryable?}}.
//
//   GET  (the page itself)   ?locale= ?theme=light|dark ?mode=inline|modal ?handoff=<code>. Answers with the page:
//                            rendered with its state where the cookie's session is valid, else "opening". #<widget
//                            token or ticket> is for the script.
//   POST session             JSON SessionRequest → 204 with the cookie, or 200 SessionResponse where storage or
//                            wantsState asks for a body. A form post (widgetToken=… or code=…) → 200 with the page and
//                            the cookie. 401 unauthorized, details {reason: RefusalReason}.
//   GET  state               200 CheckoutState. 401 as above, with reason "expired".
//   GET  events              text/event-stream. Each message is `event: state`, `id: <version>`, `data:
//                            <StreamedState>`. The first comes at once, unless Last-Event-ID is the current version.
//                            A comment every 10 s. On a limit 429: poll state instead.
//   GET  origins             200 CheckoutOrigins. 404 not_found when the intent is archived.
//   POST source-inbox        {originId} → 201 CheckoutInbox; also for the payout's own origin. Faults as in the API:
//                            unsupported_origin, source_inbox_not_active, source_inbox_unavailable (retry),
//                            customer_not_bound (retry), source_inbox_refused.
//   POST view                {} or {originId} → 202 {recorded}. Report when an address is shown and on each choice, at
//                            most one a second.
//   POST handoff             {} → 201 Handoff. 401 without a session.
//   GET  solana-pay          A transaction request of Solana Pay, for any origin and without a session: 200 {label,
//                            icon}.
//   POST solana-pay          {account} → 200 {transaction, message}. 400 with param "account" for a malformed one and
//                            for one that holds too little; 404 not_found; 503 source_inbox_not_active when nothing is
//                            left to pay.
//   GET  logo                The merchant's logo; 404 without one. Needs no session.

/** A decimal such as "25.5", without grouping and trailing zeros. */
export type Decimal = string;
/** A whole number of the payout token's smallest units. */
export type Units = string;
/** CAIP-19 with the token as displayed, such as "eip155:8453/erc20:0x8335…". */
export type OriginId = string;

/** What the page shows; the first that applies, in this order. */
export type CheckoutStage =
  /** What came before the intent closed reaches the price: `paidAt` is set. Open-ended: something counted. */
  | "paid"
  /** Paid, with `excess` too much. */
  | "overpaid"
  /** Closed without being paid, and money came: before, or after it for the deposits with `isLate`. */
  | "late"
  /** Closed without a payment. */
  | "archived"
  /** Everything has arrived in one transfer that is not final yet. */
  | "seen"
  /** Everything has arrived in several transfers, and some are not final yet. */
  | "many"
  /** A transfer is on hold, and nothing else is under way: see `held`. */
  | "held"
  /** Some has arrived: `remaining` is still to pay. */
  | "underpaid"
  /** Nothing has arrived. */
  | "waiting";

/**
 * The data of an event: the whole state. The terms never change, so only the first event of a stream without a
 * Last-Event-ID has them.
 */
export type StreamedState = Omit<CheckoutState, "terms"> & { readonly terms?: CheckoutState["terms"] };

/** The answer of `state`. It holds neither metadata nor the merchant's reference. */
export type CheckoutState = {
  /** Equal versions have equal content. Changes with every change of anything but `asOf`. */
  version: string;
  asOf: string;
  intentId: string;
  /** Eight characters of the id, which a payer tells the shop. */
  paymentNumber: string;
  stage: CheckoutStage;
  isTest: boolean;
  merchant: CheckoutMerchant;
  description: string | null;
  /** The page links there and never redirects by itself. */
  returnUrl: string | null;

  /** The payout token, in which all amounts here are. */
  symbol: string;
  decimals: number;
  /** Null when open-ended. */
  price: Decimal | null;
  /** What is left to pay, in words: rounded up to a millionth. Null when open-ended. */
  remaining: Decimal | null;
  /** The same exactly, for codes and wallets: `amounts.remainingUnits` of the intent. */
  remainingUnits: Units | null;
  /** Everything that arrived with a route to the payout, final or not. */
  arrived: Decimal;
  counted: Decimal;
  /** Counted beyond the price of a one-time payment, in whole millionths; "0" otherwise. */
  excess: Decimal;

  /** The smallest amount that is carried over by itself. Smaller transfers count together with the next ones. */
  minimum: Decimal;
  /** Arrived below the minimum and not counted yet; "0" otherwise. */
  belowMinimum: Decimal;

  /** Newest first, at most 10. Of more, deposits go before transfers below the minimum. */
  deposits: CheckoutDeposit[];
  hasMoreDeposits: boolean;
  /** The newest deposit on hold, and what can be done about it. */
  held: CheckoutHold | null;

  /** The payout's own inbox first, then every issued source inbox. */
  inboxes: CheckoutInbox[];
  /** What the inboxes commit to, for `verifyInbox` and `verifySolanaInbox` of @tributary/inbox. */
  terms: InboxTerms;

  paidAt: string | null;
  /** When the intent was settled or archived. */
  closedAt: string | null;
};

export type CheckoutMerchant = {
  name: string;
  /** An https: or mailto: address of the merchant, else of the operator. */
  support: string | null;
  /** A path on this server. */
  logo: string | null;
};

export type CheckoutDeposit = {
  depositId: string;
  /** seen → confirmed → counted; held; dropped when a reorganisation took it back. */
  status: "seen" | "confirmed" | "counted" | "held" | "dropped";
  reason: HoldReason | null;
  /** It came after the intent was settled or archived. */
  isLate: boolean;
  amount: Decimal;
  symbol: string;
  networkName: string;
  /** At most `required`. 0 for a dropped deposit. */
  confirmations: number;
  /** Null where seconds or the network's own finality decide: there is no number to count to. */
  required: number | null;
  /** Estimate for what is left, in seconds; null when unknown. */
  secondsLeft: number | null;
  from: string;
  transfer: string;
  /** The transfer on a block explorer; null where the network has none. */
  explorerUrl: string | null;
  seenAt: string;
  countedAt: string | null;
};

export type HoldReason = "wrong_token" | "wrong_network" | "providers_disagree" | "below_minimum";

export type CheckoutHold = {
  depositId: string;
  reason: HoldReason;
  amount: Decimal;
  /** What came, for wrong_token and wrong_network. */
  symbol: string;
  networkName: string;
  /** Whether the merchant can send it back: at once, from `rescueFrom` on, or not for certain. */
  rescue: "now" | "later" | "unknown";
  rescueFrom: string | null;
};

/** One address to pay to. It must equal the one that `terms` give: else show nothing but the loud refusal. */
export type CheckoutInbox = {
  namespace: "eip155" | "solana";
  reference: string;
  networkName: string;
  address: string;
  /** The CAIP-10 id of the address. */
  caip10: string;
  /** The origins that this address takes. */
  originIds: OriginId[];
  isPayoutInbox: boolean;
  /**
   * Where wallets on Solana get the transaction that pays what is left; null elsewhere. The code is `solana:<this>`.
   */
  paymentRequestUrl: string | null;
};

export type CheckoutOrigins = {
  /** Issuable ones first, then those on the payout network. */
  origins: CheckoutOrigin[];
  isIssuable: boolean;
};

export type CheckoutOrigin = {
  originId: OriginId;
  namespace: "eip155" | "solana";
  reference: string;
  chainId: number;
  networkName: string;
  /** For search: "base". */
  networkSlug: string;
  symbol: string;
  tokenAddress: string;
  decimals: number;
  minimum: Decimal;
  /** The payment's own token on its own network: nothing has to be carried over. */
  isPayout: boolean;
  isPayoutNetwork: boolean;
  isTestNetwork: boolean;
  isIssuable: boolean;
  /** Why it is not: the network cannot be watched now; the operator switched it off; this payment does not take it. */
  reason: "paused" | "off" | "not_accepted" | null;
  /** Until final, for this payment's amount; null when unknown. */
  expectedSeconds: number | null;
  /** What a plain transfer costs there, in US dollars, as a rough upper bound; null when unknown. */
  feeUsdMax: Decimal | null;
  /** Without a trailing slash; null where the network has none. Addresses at /address/…, transfers at /tx/…. */
  explorerUrl: string | null;
  /** For wallet_addEthereumChain. */
  publicRpcUrl: string;
  native: { name: string; symbol: string; decimals: number };
};

/**
 * The payment URI for EVM networks, EIP-681:
 * ethereum:<tokenAddress>@<chainId>/transfer?address=<address>[&uint256=<units of the origin's token>].
 */

export type SessionRequest = {
  widgetToken?: string | null;
  /** The credential of an embedded page (et_…). */
  ticket?: string | null;
  /** A handoff code (hc_…). */
  code?: string | null;
  /**
   * "memory" sets no cookie and returns a bearer, for frames whose browser keeps no partitioned cookies. Default
   * "cookie".
   */
  storage?: "cookie" | "memory" | null;
  /** Returns state and origins with the session, which saves a round trip. */
  wantsState?: boolean | null;
};

export type SessionResponse = {
  bearer: string | null;
  expiresAt: string;
  state: CheckoutState | null;
  origins: CheckoutOrigins | null;
};

/**
 * replaced: the token is not the latest one. expired: the session is over. unknown: no such payment, or a malformed or
 * used credential.
 */
export type RefusalReason = "replaced" | "expired" | "unknown";

/**
 * `url` opens the page elsewhere once, within two minutes: `…/c/{intentId}?handoff=hc_…`. The script posts the code to
 * `session`.
 */
export type Handoff = { code: string; url: string; expiresAt: string };

/** What the server passes to the renderer, `renderPage(page: CheckoutPage): RenderedPage`. */
export type CheckoutPage = {
  intentId: string;
  /** One of the renderer's locales, chosen from ?locale= and Accept-Language. */
  locale: string;
  theme: "light" | "dark" | null;
  mode: "page" | "inline" | "modal";
  /** Null until a session is open: the page renders "opening", and an honest sentence in <noscript>. */
  state: CheckoutState | null;
  origins: CheckoutOrigins | null;
  /** Set instead of the state where a posted form's credential was refused. */
  refusal: RefusalReason | null;
  /**
   * Checked declarations of --tr-… properties, such as ":root{--tr-accent:#0f5470}"; empty without a brand. Insert
   * verbatim in a <style>.
   */
  brandCss: string;
  /** A path on this server; known without a session. */
  logo: string | null;
};

/**
 * The whole document. The server sends a CSP whose hashes allow exactly these inline styles and scripts (their texts
 * between the tags, verbatim). Data blocks (`<script type="application/json">`) need no hash.
 */
export type RenderedPage = { html: string; inlineStyles: readonly string[]; inlineScripts: readonly string[] };

/**
 * A file of the page, served at /c/{intentId}/<name>. `page/renderPage.ts` exports `PAGE_FILES: readonly PageFile[]`
 * and `LOCALES`.
 */
export type PageFile = { name: string; contentType: string; content: string };
