import type {
  CheckoutInbox,
  CheckoutOrigin,
  CheckoutOrigins,
  CheckoutState,
  OriginId,
  RefusalReason,
} from "./checkoutState.ts";

import { IDLE, type PayerSide } from "./payerSide.ts";

// Everything that decides what the page shows. The server fills in what it knows; the script adds what only a browser
// knows.

/**
 * The result of recomputing the shown addresses from the terms. "unchecked" on the server and before the script has
 * run.
 */
export type AddressCheck =
  | { readonly outcome: "unchecked" | "ok" }
  | { readonly outcome: "mismatch"; readonly expected: string; readonly received: string };

/** A wallet that announced itself in this browser. */
export type ShownWallet = {
  readonly id: string;
  readonly name: string;
  readonly icon: string | null;
  /** The kind of networks on which it pays. */
  readonly namespace: CheckoutInbox["namespace"];
};

/** Paths on a grid of 24, by names such as "on-base" for a network and "coin-usdc" for a coin. */
export type Marks = ReadonlyMap<string, string>;

export type Situation = {
  readonly intentId: string;
  /** "down": the first load failed and is retried. */
  readonly phase: "opening" | "refused" | "down" | "open";
  readonly refusal: RefusalReason | "used" | null;
  readonly state: CheckoutState | null;
  readonly origins: CheckoutOrigins | null;
  readonly logo: string | null;
  /** Null until they have loaded. */
  readonly marks: Marks | null;
  readonly mode: "page" | "inline" | "modal";
  /** For links to the other languages; null where a reload would lose the session. */
  readonly languageQuery: string | null;

  readonly check: AddressCheck;
  /** Whether the script runs. Without it nothing is shown that needs a press handled. */
  readonly isLive: boolean;
  /** Whether the device's main pointer is a finger: nobody scans the screen that they hold. */
  readonly isPhone: boolean;
  /** On a phone: whether the payer unfolded the code. */
  readonly isCodeShown: boolean;
  readonly chosenOriginId: OriginId | null;
  /** Inboxes that were issued on this page and are not in the state yet. */
  readonly issuedInboxes: readonly CheckoutInbox[];
  readonly isChoosing: boolean;
  /** An origin whose inbox is being issued, or could not be. */
  readonly choice: { readonly originId: OriginId; readonly step: "issuing" | "failed" } | null;
  readonly searchText: string;
  /** What the payer typed as the amount of a payment without a price. */
  readonly amountText: string;
  /** After a deposit on hold: the payer pressed the button that pays the right way. */
  readonly isPayingAgain: boolean;
  readonly wallets: readonly ShownWallet[];
  /** What a wallet of this browser was asked, and how it went. */
  readonly payer: PayerSide;
  readonly copied: { readonly what: "amount" | "address"; readonly isSelectedOnly: boolean } | null;
  readonly connection: { readonly isLost: boolean; readonly retrySeconds: number; readonly isBack: boolean };
  /** What screen readers hear next. */
  readonly announcement: string;
};

export function emptySituation(intentId: string): Situation {
  return {
    intentId,
    phase: "opening",
    refusal: null,
    state: null,
    origins: null,
    logo: null,
    marks: null,
    mode: "page",
    languageQuery: null,
    check: { outcome: "unchecked" },
    isLive: false,
    isPhone: false,
    isCodeShown: false,
    chosenOriginId: null,
    issuedInboxes: [],
    isChoosing: false,
    choice: null,
    searchText: "",
    amountText: "",
    isPayingAgain: false,
    wallets: [],
    payer: IDLE,
    copied: null,
    connection: { isLost: false, retrySeconds: 0, isBack: false },
    announcement: "",
  };
}

/** Screens without a payment to show. */
export type MessageScreen = "opening" | "stale" | "used" | "ended" | "unknown" | "down" | "refused" | "archived";
export type PaymentScreen = "choose" | "ready" | "underpaid" | "seen" | "many" | "paid" | "overpaid" | "late" | "held";
export type Screen = MessageScreen | PaymentScreen;

const REFUSALS = { replaced: "stale", used: "used", expired: "ended", unknown: "unknown" } as const;

/** Decides which screen the page shows. Pure: the same situation gives the same screen. */
export function chooseScreen(situation: Situation): Screen {
  const { phase, state } = situation;
  if (situation.check.outcome === "mismatch") return "refused";
  if (phase === "refused") return REFUSALS[situation.refusal ?? "unknown"];
  if (state === null) return phase === "down" ? "down" : "opening";
  switch (state.stage) {
    case "paid":
    case "overpaid":
    case "late":
    case "archived":
    case "seen":
    case "many":
      return state.stage;
    case "held":
      return situation.isPayingAgain ? payingScreen(situation, state) : "held";
    case "underpaid":
    case "waiting":
      return payingScreen(situation, state);
  }
}

function payingScreen(situation: Situation, state: CheckoutState): PaymentScreen {
  if (situation.isChoosing && situation.origins !== null) return "choose";
  return isPartPaid(state) ? "underpaid" : "ready";
}

/** Whether some of a price has arrived and some has not. */
function isPartPaid(state: CheckoutState): boolean {
  return state.price !== null && state.remainingUnits !== null && state.remaining !== state.price;
}

/** Where the payer is asked to send money: one origin and the inbox that takes it. */
export type PayTarget = { readonly inbox: CheckoutInbox; readonly origin: CheckoutOrigin | null };

/** The chosen origin if its inbox is issued, else the payout's own. Undefined while neither is known. */
export function findPayTarget(situation: Situation): PayTarget | undefined {
  const { state, chosenOriginId } = situation;
  if (state === null) return undefined;
  const origins = situation.origins?.origins ?? [];
  const inboxes = [...state.inboxes, ...situation.issuedInboxes];
  const chosen = origins.find((origin) => origin.originId === chosenOriginId);
  const chosenInbox =
    chosen === undefined ? undefined : inboxes.find(({ originIds }) => originIds.includes(chosen.originId));
  if (chosen !== undefined && chosenInbox !== undefined) return { inbox: chosenInbox, origin: chosen };
  const inbox = inboxes.find(({ isPayoutInbox }) => isPayoutInbox) ?? inboxes[0];
  if (inbox === undefined) return undefined;
  return { inbox, origin: origins.find(({ isPayout }) => isPayout) ?? null };
}

/** Whether the payer can pay in another way than the one shown. */
export function hasChoice(situation: Situation): boolean {
  const shown = findPayTarget(situation)?.origin?.originId;
  return (situation.origins?.origins ?? []).some(({ isIssuable, originId }) => isIssuable && originId !== shown);
}

/** Origins whose coin or network contains every word of the search. */
export function searchOrigins(origins: readonly CheckoutOrigin[], searchText: string): CheckoutOrigin[] {
  const words = searchText.toLowerCase().split(/\s+/).filter(Boolean);
  return origins.filter((origin) => {
    const text = `${origin.symbol} ${origin.networkName} ${origin.networkSlug}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
