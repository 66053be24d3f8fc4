import { h, type Attributes, type VElement } from "@tributary/checkout/vnode";
import type { MerchantContext } from "./frame.ts";

/** The filters as they stand in the address; an absent one is empty. */
export type ListFilters = {
  readonly status: string;
  readonly paymentStatus: string;
  readonly createdAfter: string;
  readonly createdBefore: string;
  readonly merchantReference: string;
  readonly chain: string;
  readonly priceMin: string;
  readonly priceMax: string;
};

/** A value of a choice, such as a chain, and its text. */
export type Choice = { readonly value: string; readonly text: string };

const STATUSES = ["active", "settled", "archived"];
const PAYMENT_STATUSES = ["unpaid", "partial", "paid", "overpaid"];

/** The filters of the list, which stand in its address. */
export function filterForm(
  { t }: MerchantContext,
  { filters, chains, isFiltered }: { filters: ListFilters; chains: readonly Choice[]; isFiltered: boolean },
): VElement {
  const choice = (name: "status" | "paymentStatus" | "chain", options: readonly Choice[]) =>
    h(
      "p.field",
      {},
      h("label", { for: name }, t.text(`list.${name}`)),
      h(
        "select",
        { id: name, name },
        h("option", { value: "" }, t.text("list.any")),
        options.map(({ value, text }) => h("option", { value: value, selected: filters[name] === value }, text)),
      ),
    );
  const field = (name: keyof ListFilters, label: string, more: Attributes) =>
    h("p.field", {}, h("label", { for: name }, label), h("input", { id: name, name, value: filters[name], ...more }));
  const words = (values: readonly string[]) => values.map((value) => ({ value, text: value }));
  const date = (name: "createdAfter" | "createdBefore") => ({ type: "date", value: filters[name].slice(0, 10) });
  const price = { inputmode: "decimal", pattern: "[0-9]+([.][0-9]+)?", maxlength: 30 };
  const fields = [
    choice("status", words(STATUSES)),
    choice("paymentStatus", words(PAYMENT_STATUSES)),
    field("createdAfter", t.text("list.from"), date("createdAfter")),
    field("createdBefore", t.text("list.to"), date("createdBefore")),
    field("merchantReference", t.text("list.reference"), { type: "text", maxlength: 200 }),
    choice("chain", chains),
    field("priceMin", t.text("list.priceMin"), price),
    field("priceMax", t.text("list.priceMax"), price),
  ];
  const buttons = [
    h("button.btn", { type: "submit" }, t.text("list.apply")),
    isFiltered && h("a.btn.plain", { href: "/dashboard" }, t.text("list.clear")),
  ];
  return h(
    "details.panel.raw",
    { open: isFiltered },
    h("summary", {}, t.text("list.filter")),
    h("form.in", { method: "get", action: "/dashboard" }, h("div.pair", {}, fields), h("p.acts", {}, buttons)),
  );
}
