/** What the payment's page shows. `paid` and `overpaid` are final; the names are those of the page's own state. */
export type PaymentStage =
  | "waiting"
  | "underpaid"
  | "seen"
  | "many"
  | "held"
  | "paid"
  | "overpaid"
  | "late"
  | "archived";

/** Events are hints for the page: a visitor can forge them. Ship when your server reads `status` `settled`. */
export type CheckoutEvents = {
  /** The payer sees the payment. */
  readonly ready: { readonly intentId: string };
  /** The stage is another one. The first comes with `ready`. */
  readonly status: { readonly intentId: string; readonly stage: PaymentStage };
  /** The price is reached and final. Once for each mount. */
  readonly paid: { readonly intentId: string; readonly stage: "paid" | "overpaid" };
  readonly error: { readonly intentId: string; readonly code: CheckoutErrorCode; readonly message: string };
  /** The payer closed the modal. */
  readonly close: { readonly intentId: string };
};

/**
 * no_target: no element matches `target`. wrong_intent: the service knows no intent with this id. wrong_origin: the
 * page's origin is not on the account's list. not_opened: the service did not answer. not_verified: `expectedPayout`
 * refused an address, with its reason as the message; the frame is gone.
 */
export type CheckoutErrorCode = "no_target" | "wrong_intent" | "wrong_origin" | "not_opened" | "not_verified";

/** What the frame is about to show. */
export type ShownPayment = {
  /** The intent's `inboxTerms` as the API shows them. Unchecked: `verifyInbox` of @tributary/inbox reads them. */
  readonly terms: Readonly<Record<string, unknown>>;
  readonly inboxes: readonly { readonly namespace: string; readonly address: string }[];
};

/**
 * Whether the merchant's own code agrees with every address. `expectPayout` of @tributary/sdk/verify makes one, and
 * `expectSolanaPayout` and `expectPayoutFromSolana` of @tributary/sdk/solana/verify.
 */
export type PayoutCheck = ((shown: ShownPayment) => boolean | Promise<boolean>) & {
  /**
   * Whether a wallet of your page may be asked for this token, by its contract and the chain id in hex; any token where
   * this is left out.
   */
  readonly mayAsk?: (token: string | undefined, chainId: string | undefined) => boolean;
  /** Why the check last refused: the message of the `error` event. */
  reason?: string | undefined;
};

export type MountOptions = {
  /** The id of an intent that your server created. */
  readonly intentId: string;
  /** The element, or a selector of it, that the checkout is put into. Without it the checkout opens as a modal. */
  readonly target?: Element | string | undefined;
  /** "inline" with a target, else "modal". "redirect" leaves the page for the checkout's own. */
  readonly mode?: "inline" | "modal" | "redirect" | undefined;
  /** The service's URL, if it is not the configured one. */
  readonly baseUrl?: string | undefined;
  /** A language tag such as "de"; by default the browser's. */
  readonly locale?: string | undefined;
  /** By default the device's. */
  readonly theme?: "light" | "dark" | undefined;
  /** The frame shows nothing, and no wallet is asked, until this agrees. */
  readonly expectedPayout?: PayoutCheck | undefined;
  readonly onReady?: ((event: CheckoutEvents["ready"]) => void) | undefined;
  readonly onStatus?: ((event: CheckoutEvents["status"]) => void) | undefined;
  readonly onPaid?: ((event: CheckoutEvents["paid"]) => void) | undefined;
  readonly onError?: ((event: CheckoutEvents["error"]) => void) | undefined;
  readonly onClose?: ((event: CheckoutEvents["close"]) => void) | undefined;
};

/** A mounted checkout. */
export type Checkout = {
  /** Replaces handlers, or with another `theme` or `locale` opens the frame again. */
  update(changes: Partial<Omit<MountOptions, "intentId" | "target" | "mode" | "baseUrl" | "expectedPayout">>): void;
  /** Removes the frame and every listener. Repeating changes nothing. */
  unmount(): void;
  /** Calls `listener` for each event. Returns the function that stops it. */
  on<Name extends keyof CheckoutEvents>(name: Name, listener: (event: CheckoutEvents[Name]) => void): () => void;
};
