import { formatDate, formatMoney, shortAddress } from "../format.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { icon } from "./icons.ts";
import { addressCode, backLink, bold, explorerLink, instruction, paymentNumber } from "./parts.ts";
import { banner } from "./status.ts";
import { transferList } from "./transfers.ts";
import { money, type PaymentContext } from "./viewContext.ts";

/** The price is reached, exactly or with too much. */
export function renderPaid(context: PaymentContext): Child[] {
  const { t, state, screen } = context;
  const merchant = bold(state.merchant.name);
  const heading =
    screen === "overpaid"
      ? instruction(
          t.rich("over.title", { excess: money(context, state.excess) }),
          [t.rich("over.do", { excess: bold(money(context, state.excess)), merchant })],
          { name: "plus", tone: "good" },
        )
      : instruction(
          t.text("paid.title"),
          [t.rich("paid.do", { amount: bold(money(context, state.counted)), merchant })],
          {
            name: "tick",
            tone: "good",
          },
        );
  return [
    banner(context),
    h("h2.paper", { hidden: true }, t.text("paid.receipt")),
    heading,
    actions(context),
    receipt(context),
  ];
}

function actions(context: PaymentContext): VElement | null {
  const { t, situation } = context;
  const back = backLink(context);
  const print =
    situation.isLive && h("button.btn", { type: "button", "data-do": "print" }, icon("print"), t.text("paid.print"));
  return back === null && print === false ? null : h("div.btns.side", {}, back, print);
}

/** What a payer keeps: when, from where, which transfers, and the payment's number. */
function receipt(context: PaymentContext): Child {
  const { t, state, times } = context;
  const counted = state.deposits.filter((deposit) => deposit.status === "counted");
  const paidAt = state.paidAt ?? counted[0]?.countedAt ?? state.asOf;
  const date = formatDate(paidAt, times, { dateStyle: "long", timeStyle: "short" });
  const [only, ...others] = counted;
  const inbox = state.inboxes.find(({ isPayoutInbox }) => isPayoutInbox);
  const row = (name: string, ...content: Child[]) => h("div", {}, h("dt", {}, name), h("dd", {}, content));
  const rows = h(
    "dl.rows",
    {},
    row(t.text("row.when"), h("time", { datetime: paidAt }, date)),
    only !== undefined &&
      others.length === 0 && [
        row(t.text("row.from"), h("bdi", { dir: "ltr", translate: "no", title: only.from }, shortAddress(only.from))),
        only.explorerUrl !== null && row(t.text("row.transfer"), explorerLink(context, only.explorerUrl)),
      ],
    h("div", {}, h("dt", {}, numberLabel(context)), h("dd.big", {}, paymentNumber(state.paymentNumber))),
    inbox !== undefined &&
      h(
        "div.tall.paper",
        { hidden: true },
        h("dt", {}, t.text("row.address")),
        h("dd", {}, addressCode(inbox.address)),
      ),
  );
  return [rows, (others.length > 0 || state.deposits.length > counted.length) && transferList(context)];
}

/** "Payment no." without the number, which stands below. */
function numberLabel({ t }: PaymentContext): string {
  return t
    .text("foot.number", { id: "" })
    .replaceAll(/[\u2068\u2069]/g, "")
    .trim();
}

/** Money came, and the intent was closed before it was paid. */
export function renderLate(context: PaymentContext): Child[] {
  const { t, state } = context;
  const late = state.deposits.find((deposit) => deposit.isLate);
  const title =
    late === undefined
      ? t.rich("late.before", { amount: money(context, state.arrived) })
      : t.rich("late.title", { amount: formatMoney(late.amount, late.symbol) });
  return [
    banner(context),
    instruction(title, [t.rich("late.do", { merchant: bold(state.merchant.name) })], {
      name: "clock",
      tone: "warn",
    }),
    backLink(context),
    transferList(context),
  ];
}
