import { formatDecimal, formatMoney, percentStep, decimalUnits } from "../format.ts";
import { hasChoice } from "../situation.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { networkMark } from "./marks.ts";
import {
  money,
  targetDecimal,
  targetNetwork,
  targetSymbol,
  type PaymentContext,
  type ViewContext,
} from "./viewContext.ts";

const LONG_AMOUNT_CHARACTERS = 9;

/** The order summary: shop, sum, network and steps. It stays while the task beside it changes. */
export function orderSummary(context: PaymentContext): VElement {
  return h(
    "section.order-summary",
    { "aria-labelledby": "sum" },
    shop(context, context.state.description),
    h("div.sum", {}, sum(context), network(context)),
    bill(context),
    steps(context),
  );
}

export function shop({ situation }: ViewContext, description: string | null = null): VElement | null {
  const { state } = situation;
  if (state === null) return null;
  const source = state.merchant.logo ?? situation.logo;
  return h(
    "p.shop",
    {},
    source !== null && h("img.logo", { src: source, alt: "", width: 40, height: 40 }),
    h(
      "span",
      {},
      h("b", {}, h("bdi", {}, state.merchant.name)),
      description !== null && [h("br"), h("span.dim", {}, h("bdi", {}, description))],
    ),
  );
}

function sum(context: PaymentContext): Child {
  const { t, state, screen } = context;
  const { label, amount, symbol } = shownSum(context);
  const text = amount === null ? t.text("sum.open") : formatDecimal(amount);
  const isLong = amount === null || text.length > LONG_AMOUNT_CHARACTERS;
  return [
    h("p.dim", { id: "sum" }, label),
    h(
      "p",
      { class: isLong ? "amount long" : "amount", "data-amount": screen },
      h("bdi", {}, text, amount !== null && [" ", h("span", {}, symbol)]),
    ),
    amount === null && h("p.dim", {}, h("bdi", {}, state.symbol)),
  ];
}

/** The number in the summary: what is asked for, or what came. */
function shownSum(context: PaymentContext): { label: string; amount: string | null; symbol: string } {
  const { t, state, screen } = context;
  const symbol = screen === "choose" ? state.symbol : targetSymbol(context);
  switch (screen) {
    case "paid":
    case "overpaid":
      return { label: t.text("sum.paid"), amount: state.counted, symbol: state.symbol };
    case "late": {
      const late = state.deposits.find((deposit) => deposit.isLate);
      return { label: t.text("sum.arrived"), amount: late?.amount ?? state.arrived, symbol: late?.symbol ?? symbol };
    }
    case "seen":
    case "many":
      if (state.price === null) return { label: t.text("sum.arrived"), amount: state.arrived, symbol: state.symbol };
      return { label: t.text("sum.price"), amount: state.price, symbol: state.symbol };
    case "underpaid":
      return { label: t.text("sum.left"), amount: targetDecimal(context, state.remaining ?? "0"), symbol };
    default: {
      const asked = state.remaining ?? state.price;
      const amount = asked === null || screen === "choose" ? asked : targetDecimal(context, asked);
      return { label: t.text("sum.toPay"), amount, symbol };
    }
  }
}

/** The network in words. While the payer still pays it can be changed. */
function network(context: PaymentContext): VElement | null {
  const { t, situation, screen, state } = context;
  if (screen === "choose") return null;
  const isPaying = screen === "ready" || screen === "underpaid";
  const name =
    isPaying || screen === "held" ? targetNetwork(context) : (state.deposits[0]?.networkName ?? targetNetwork(context));
  if (name === "") return null;
  return h(
    "p.net",
    {},
    h(
      "span.pill",
      {},
      networkMark(situation, name),
      h("span", {}, t.rich("sum.on", { network: h("b", {}, h("bdi", {}, name)) })),
    ),
    isPaying &&
      situation.isLive &&
      hasChoice(situation) &&
      h("button.link", { type: "button", "data-do": "change" }, t.text("sum.change")),
  );
}

function bill(context: PaymentContext): VElement | null {
  const { t, screen, state } = context;
  const lines: [string, string][] = [];
  if (screen === "overpaid") {
    if (state.price !== null) lines.push([t.text("sum.price"), money(context, state.price)]);
    lines.push([t.text("sum.tooMuch"), money(context, state.excess)]);
  }
  if (screen === "many" || screen === "underpaid") {
    lines.push([t.text("sum.arrived"), money(context, screen === "many" ? state.counted : state.arrived)]);
    if (state.price !== null && screen === "underpaid")
      lines.unshift([t.text("sum.price"), money(context, state.price)]);
  }
  if (lines.length === 0) return null;
  return h(
    "dl.bill",
    {},
    lines.map(([name, amount]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("bdi", {}, amount)))),
  );
}

type Step = { readonly text: string; readonly classes: string; readonly at?: number };

/** The steps of the payment. The one in progress is marked for readers too. */
function steps(context: PaymentContext): VElement {
  const { t, screen } = context;
  const isDone = screen === "paid" || screen === "overpaid";
  const isHeld = screen === "held" || screen === "late";
  const frame = isDone ? "steps done" : isHeld ? "steps held" : "steps";
  return h(
    "ol",
    { class: frame, "aria-label": t.text("steps.label") },
    progressSteps(context).map(({ text, classes, at }) =>
      h(
        "li",
        {
          class: classes,
          "data-at": at,
          "aria-current": classes.startsWith("now") ? "step" : undefined,
        },
        text,
      ),
    ),
  );
}

function progressSteps(context: PaymentContext): Step[] {
  const { t, screen, state, situation } = context;
  const [pay, confirm, done] = [t.text("step.pay"), t.text("step.confirm"), t.text("step.done")];
  const newest = state.deposits.find((deposit) => deposit.status === "seen" || deposit.status === "confirmed");
  switch (screen) {
    case "paid":
    case "overpaid":
      return [
        { text: pay, classes: "" },
        { text: confirm, classes: "" },
        { text: done, classes: "now" },
      ];
    case "seen":
    case "many": {
      const isCounted = newest !== undefined && newest.required !== null;
      const numbers = { n: String(newest?.confirmations ?? 0), m: String(newest?.required ?? 0) };
      const at = isCounted ? percentStep(BigInt(newest.confirmations), BigInt(newest.required ?? 1)) : undefined;
      return [
        { text: pay, classes: "past" },
        isCounted
          ? { text: t.text("step.confirmOf", numbers), classes: "now", at: at ?? 0 }
          : { text: confirm, classes: "now flow" },
        { text: done, classes: "" },
      ];
    }
    case "held":
      return [
        { text: pay, classes: "past" },
        { text: t.text("step.held"), classes: "now" },
        { text: done, classes: "" },
      ];
    case "late":
      return [
        { text: pay, classes: "past" },
        { text: confirm, classes: "past" },
        { text: t.text(state.deposits.some(({ isLate }) => isLate) ? "dep.late" : "step.closed"), classes: "now" },
      ];
    case "underpaid":
      return [
        { text: pay, classes: "now", at: arrivedPercent(context) },
        { text: confirm, classes: "" },
        { text: done, classes: "" },
      ];
    default:
      return [
        { text: pay, classes: situation.isLive ? "now flow" : "now" },
        { text: confirm, classes: "" },
        { text: done, classes: "" },
      ];
  }
}

export function arrivedPercent({ state }: PaymentContext): number {
  if (state.price === null) return 0;
  return percentStep(decimalUnits(state.arrived, state.decimals), decimalUnits(state.price, state.decimals));
}

/** A sum in the coin that the payer sends. */
export function targetMoney(context: PaymentContext, decimal: string): string {
  return formatMoney(targetDecimal(context, decimal), targetSymbol(context));
}
