import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { groupDigits } from "../format.ts";
import { amount, chainName, inside, moment, panel } from "../parts/parts.ts";
import { table } from "../parts/table.ts";
import { dayChart, dayName } from "./dayChart.ts";
import type { CoinSums, SettlementDays } from "./settlementDays.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";

export function settlementsPage(context: MerchantContext, data: SettlementDays): MerchantPage {
  const { t, times } = context;
  const { incompleteSince, total } = data;
  const content = [
    periodForm(context, data),
    incompleteSince !== null &&
      h("p.note", { role: "status" }, t.rich("days.incomplete", { time: moment(incompleteSince, times) })),
    panel(
      { id: "days", title: t.text("days.title"), side: t.text("days.utc") },
      Number(total.count) === 0
        ? inside(h("p.dim", {}, t.text("days.none")))
        : inside(
            dayChart(context, data),
            h(
              "dl.figs",
              {},
              h("div", {}, h("dt", {}, t.text("pay.net")), h("dd", {}, large(total.net, data.coin))),
              h("div", {}, h("dt", {}, t.text("days.count")), h("dd", {}, groupDigits(total.count))),
            ),
            h("details", {}, h("summary.small", {}, h("b", {}, t.text("days.table"))), dayTable(context, data)),
          ),
    ),
    Number(total.count) !== 0 && costPanel(context, data),
  ];
  return { title: t.text("nav.settlements"), section: "settlements", content };
}

function periodForm({ t }: MerchantContext, { from, to, coin, coins }: SettlementDays): VElement {
  const date = (name: "from" | "to", value: string) =>
    h(
      "p.field",
      {},
      h("label", { for: name }, t.text(`days.${name}`)),
      h("input", { id: name, name, type: "date", value, required: true }),
    );
  const choice =
    coins.length > 1 &&
    h(
      "p.field",
      {},
      h("label", { for: "coin" }, t.text("payout.coin")),
      h(
        "select",
        { id: "coin", name: "coin" },
        coins.map((each) => h("option", { value: each, selected: each === coin }, each)),
      ),
    );
  return h(
    "form.panel",
    { method: "get", action: "/dashboard/settlements" },
    inside(
      h("div.pair", {}, date("from", from), date("to", to), choice),
      h("p.acts", {}, h("button.btn", { type: "submit" }, t.text("days.show"))),
    ),
  );
}

function large(decimal: string, symbol: string): Child[] {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return [
    h("bdi", { dir: "ltr" }, `${groupDigits(whole)}.${fraction.padEnd(2, "0").slice(0, 2)}`),
    " ",
    h("span.small", {}, symbol),
  ];
}

/** The same numbers as in the chart. */
function dayTable({ t, times }: MerchantContext, { days, coin }: SettlementDays): VElement {
  const columns = [
    { label: t.text("days.day") },
    { label: t.text("days.count"), isNumber: true },
    { label: t.text("pay.net"), isNumber: true },
  ];
  const rows = days
    .toReversed()
    .filter(({ count }) => count !== "0")
    .map(({ day, net, count }) => ({
      cells: [h("time", { datetime: day }, dayName(day, times)), groupDigits(count), amount(net, coin)],
    }));
  return table(t.text("days.title"), columns, rows);
}

function costPanel({ t }: MerchantContext, { chains, total, coin }: SettlementDays): VElement {
  const columns = [
    { label: t.text("days.paidOn") },
    { label: t.text("days.gross"), isNumber: true },
    { label: t.text("days.bridge"), isNumber: true },
    { label: t.text("pay.fee"), isNumber: true },
    { label: t.text("pay.net"), isNumber: true },
  ];
  const cellsOf = (name: Child, { gross, routeCost, fee, net }: CoinSums) => ({
    cells: [name, ...[gross, routeCost, fee, net].map((each) => amount(each, coin))],
  });
  const rows = chains.map(({ name, sums }) => cellsOf(chainName(name), sums));
  const all = chains.length > 1 ? [cellsOf(h("b", {}, t.text("days.all")), total)] : [];
  return panel(
    { id: "costs", title: t.text("days.costs"), side: t.text("days.adds") },
    table(t.text("days.costs"), columns, [...rows, ...all]),
  );
}
