import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { amount, idText, inside, moment, panel, tag, type Tone } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import { filterForm, type ListFilters, type Choice } from "./filterForm.ts";
import { newerLine } from "./newerLine.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";

export type Sum = { readonly decimal: string; readonly symbol: string };

/** One payment of a list. */
export type PaymentRow = {
  readonly intentId: string;
  readonly merchantReference: string | null;
  readonly description: string | null;
  readonly status: string;
  readonly paymentStatus: string;
  readonly price: Sum | null;
  readonly received: Sum;
  readonly net: Sum;
  readonly createdAt: string;
};

export type PaymentList = {
  readonly filters: ListFilters;
  /** Where payments may be paid out. */
  readonly chains: readonly Choice[];
  readonly rows: readonly PaymentRow[];
  readonly nextCursor: string;
  readonly isFirstPage: boolean;
  /** How many payments a page without all its rows looked through; null where it has them, or there are no more. */
  readonly lookedMax: number | null;
};

const TONES: Readonly<Record<string, Tone>> = {
  paid: "ok",
  overpaid: "ok",
  counted: "ok",
  landed: "ok",
  succeeded: "ok",
  enabled: "ok",
  applied: "ok",
  proposed: "part",
  waiting: "flow",
  stopped: "stop",
  revoked: "fail",
  settled: "done",
  partial: "part",
  held: "stop",
  failed: "fail",
  dropped: "fail",
  disabled: "fail",
  submitted: "flow",
  bridging: "flow",
  seen: "flow",
  confirmed: "flow",
  pending: "flow",
};

export function stateTag(state: string): VElement {
  return tag(TONES[state] ?? "plain", state);
}

export function sum({ decimal, symbol }: Sum): VElement {
  return amount(decimal, symbol);
}

/** The query of an address with these filters. */
function filterQuery(filters: ListFilters, more: Readonly<Record<string, string>> = {}): string {
  const given = Object.entries({ ...filters, ...more }).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  return query === "" ? "" : `?${query}`;
}

export function paymentsPage(context: MerchantContext, list: PaymentList): MerchantPage {
  const { t } = context;
  const { filters, rows, nextCursor, isFirstPage, lookedMax } = list;
  const isFiltered = Object.values(filters).some((value) => value !== "");
  const side = [
    h("a.btn", { href: `/dashboard/payments.csv${filterQuery(filters)}`, download: true }, t.text("list.csv")),
    " ",
    h("a.btn", { href: `/dashboard/payments.jsonl${filterQuery(filters)}`, download: true }, t.text("list.jsonl")),
  ];
  const older =
    nextCursor !== "" &&
    h(
      "a.btn",
      { href: `/dashboard${filterQuery(filters, { cursor: nextCursor })}` },
      t.text(lookedMax === null ? "list.older" : "list.lookOn"),
    );
  const newest = !isFirstPage && h("a.btn", { href: `/dashboard${filterQuery(filters)}` }, t.text("list.newest"));
  const content = [
    filterForm(context, { ...list, isFiltered }),
    isFirstPage && newerLine(context, `/dashboard${filterQuery(filters)}`),
    panel(
      { id: "payments", title: t.text("list.title"), side },
      rows.length === 0
        ? inside(h("p.dim", {}, t.text(isFiltered || !isFirstPage ? "list.empty" : "list.first")))
        : paymentTable(context, rows),
      lookedMax !== null && inside(h("p.small.dim", { role: "status" }, t.text("list.looked", { n: lookedMax }))),
      (older || newest) && h("footer", {}, newest, older),
    ),
  ];
  return { title: t.text("list.title"), section: "payments", content };
}

function paymentTable({ t, times }: MerchantContext, rows: readonly PaymentRow[]): VElement {
  const columns = [
    { label: t.text("list.payment") },
    { label: t.text("list.paymentStatus") },
    { label: t.text("list.status") },
    { label: t.text("list.price"), isNumber: true },
    { label: t.text("list.received"), isNumber: true },
    { label: t.text("list.net"), isNumber: true },
    { label: t.text("list.created"), isNumber: true },
  ];
  const shown = rows.map((row) => ({
    id: row.intentId,
    cells: [
      h(
        "a",
        { href: `/dashboard/payments/${row.intentId}` },
        row.merchantReference === null ? idText(row.intentId, true) : h("bdi", {}, row.merchantReference),
      ),
      stateTag(row.paymentStatus),
      stateTag(row.status),
      row.price === null ? t.text("list.open") : sum(row.price),
      sum(row.received),
      sum(row.net),
      moment(row.createdAt, times),
    ] satisfies Child[],
  }));
  return wideTable(t.text("list.title"), columns, shown);
}

/** Several hits, or none. One hit is opened at once. */
export function foundPage(context: MerchantContext, query: string, rows: readonly PaymentRow[]): MerchantPage {
  const { t } = context;
  const title = t.text("list.found", { query });
  const content = [
    panel(
      { id: "payments", title: t.text("list.title") },
      rows.length === 0 ? inside(h("p", { role: "status" }, t.text("list.none"))) : paymentTable(context, rows),
    ),
  ];
  return { title, section: "payments", query, content };
}
