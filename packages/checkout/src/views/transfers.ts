import type { CheckoutDeposit } from "../checkoutState.ts";
import { formatMoment, formatMoney } from "../format.ts";
import { h, type VElement } from "../vnode.ts";
import { explorerLink } from "./parts.ts";
import type { PaymentContext } from "./viewContext.ts";

/** Every transfer of this payment, newest first. */
export function transferList(context: PaymentContext): VElement {
  const { t, state } = context;
  return h(
    "section",
    { "aria-labelledby": "list" },
    h("h2", { id: "list" }, t.text("many.list")),
    h(
      "ul.list",
      {},
      state.deposits.map((deposit) => transferRow(context, deposit)),
    ),
  );
}

function transferRow(context: PaymentContext, deposit: CheckoutDeposit): VElement {
  const { text, tone } = transferState(context, deposit);
  return h(
    "li",
    { "data-deposit": deposit.status },
    h("b", {}, h("bdi", {}, formatMoney(deposit.amount, deposit.symbol))),
    h("span", { class: `flag ${tone}`.trim() }, text),
    h(
      "span.small",
      {},
      h("span.dim", {}, formatMoment(deposit.seenAt, context.now, context.times)),
      h("span.dim", {}, h("bdi", {}, deposit.networkName)),
      explorerLink(context, deposit.explorerUrl),
    ),
  );
}

function transferState({ t }: PaymentContext, deposit: CheckoutDeposit): { text: string; tone: string } {
  if (deposit.isLate) return { text: t.text("dep.late"), tone: "" };
  switch (deposit.status) {
    case "counted":
      return { text: t.text("dep.counted"), tone: "good" };
    case "held":
      return { text: t.text("dep.held"), tone: "" };
    case "dropped":
      return { text: t.text("dep.dropped"), tone: "" };
    case "seen":
    case "confirmed":
      if (deposit.required === null) return { text: t.text("step.confirm"), tone: "plain" };
      return {
        text: t.text("dep.seen", { n: String(deposit.confirmations), m: String(deposit.required) }),
        tone: "plain",
      };
  }
}
