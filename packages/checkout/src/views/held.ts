import type { CheckoutHold } from "../checkoutState.ts";
import { formatDate, formatMoney } from "../format.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { bold, instruction, paymentNumber } from "./parts.ts";
import { banner } from "./status.ts";
import { targetMoney } from "./orderSummary.ts";
import { transferList } from "./transfers.ts";
import { money, targetNetwork, targetSymbol, type PaymentContext } from "./viewContext.ts";

/** A transfer is on hold: why, and at most two remedies. */
export function renderHeld(context: PaymentContext): Child[] {
  const { t, state } = context;
  const { held } = state;
  if (held === null) return [transferList(context)];
  const amount = formatMoney(held.amount, held.symbol);
  const isForeign = held.reason === "wrong_token" || held.reason === "wrong_network";
  return [
    banner(context),
    instruction(t.rich("held.title", { amount }), [reason(context, held)], { name: "pause", tone: "warn" }),
    held.reason !== "providers_disagree" && finishRemedy(context),
    isForeign && refundRemedy(context, held),
    transferList(context),
  ];
}

function reason(context: PaymentContext, held: CheckoutHold): Child {
  const { t, state } = context;
  const symbol = targetSymbol(context);
  const network = targetNetwork(context);
  const safe = held.rescue === "unknown" ? null : [" ", t.text("held.safe")];
  switch (held.reason) {
    case "wrong_token":
      return [t.rich("held.doToken", { wrong: bold(held.symbol), symbol }), safe];
    case "wrong_network":
      return [t.rich("held.doNetwork", { wrong: bold(held.networkName), symbol, network }), safe];
    case "providers_disagree":
      return t.rich("held.doCheck", { network: held.networkName });
    case "below_minimum":
      return t.rich("held.doSmall", { minimum: money(context, state.minimum) });
  }
}

/** First: send the right money. The button leads to the usual ways to pay. */
function finishRemedy(context: PaymentContext): VElement | null {
  const { t, state, situation } = context;
  const network = targetNetwork(context);
  if (!situation.isLive || network === "") return null;
  const what =
    state.remaining === null
      ? t.rich("pay.titleOpen", { symbol: targetSymbol(context), network })
      : t.rich("pay.title", { amount: targetMoney(context, state.remaining), network });
  return remedy(
    "1",
    t.text("held.one"),
    h("button.btn.main", { type: "button", "data-do": "pay" }, h("span", {}, what)),
  );
}

/** Second: get the wrong money back. Nothing is promised that the terms do not allow. */
function refundRemedy({ t, state, situation, times }: PaymentContext, held: CheckoutHold): VElement {
  const values = { merchant: state.merchant.name, id: paymentNumber(state.paymentNumber) };
  const date = held.rescueFrom === null ? "" : formatDate(held.rescueFrom, times, { dateStyle: "long" });
  const sentence =
    held.rescue === "later" && date !== ""
      ? t.rich("held.twoLater", { ...values, date })
      : t.rich(held.rescue === "now" ? "held.twoDo" : "held.twoAsk", values);
  return remedy(situation.isLive ? "2" : "1", t.rich("held.two", { wrong: held.symbol }), h("p", {}, sentence));
}

function remedy(number: string, title: Child, content: VElement): VElement {
  return h(
    "div.note",
    {},
    h("span.mark", { "aria-hidden": "true" }, number),
    h("div", {}, h("h2", {}, title), content),
  );
}
