import { formatMoney, roundUpDecimal, type TimeFormat } from "../format.ts";
import type { CheckoutState } from "../checkoutState.ts";
import type { PayTarget, Screen, Situation } from "../situation.ts";
import type { Translator } from "../translator.ts";

/** What every part of the page is drawn from. */
export type ViewContext = {
  readonly t: Translator;
  readonly situation: Situation;
  readonly screen: Screen;
  /** ISO 8601: the moment that times are compared with. */
  readonly now: string;
  readonly times: TimeFormat;
};

/** The same on screens that show a payment. */
export type PaymentContext = ViewContext & {
  readonly state: CheckoutState;
  readonly target: PayTarget | undefined;
};

/** Amounts of the price and of what arrived are in the payout token. */
export function money({ state }: PaymentContext, decimal: string): string {
  return formatMoney(decimal, state.symbol);
}

/** The coin that the payer is asked to send. */
export function targetSymbol({ state, target }: PaymentContext): string {
  return target?.origin?.symbol ?? state.symbol;
}

/** A sum in the coin that the payer sends, at par with the price, and rounded up to what that coin can express. */
export function targetDecimal({ target }: PaymentContext, decimal: string): string {
  return target?.origin ? roundUpDecimal(decimal, target.origin.decimals) : decimal;
}

export function targetNetwork({ target }: PaymentContext): string {
  return target?.inbox.networkName ?? "";
}
