import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { formatAge, groupDigits } from "../format.ts";
import { amount, chainName, idText, inside, moment, panel, tag } from "../parts/parts.ts";
import { table } from "../parts/table.ts";
import type { OpsContext } from "./opsContext.ts";
import type { OpsState } from "./opsState.ts";

// Money under way: transactions of the service, crossings, held deposits, and the books.

export function transactionsView({ t }: OpsContext, { transactions }: OpsState): VElement {
  const columns = [
    { label: t.text("chains.chain") },
    { label: t.text("out.nonce"), isNumber: true },
    { label: t.text("out.what"), isNumber: true },
    { label: t.text("out.status") },
    { label: t.text("out.age"), isNumber: true },
  ];
  const rows = transactions.map(({ chainName: name, nonce, attempts, settlements, ageMs }) => ({
    cells: [
      chainName(name),
      nonce === null ? "–" : groupDigits(nonce),
      String(settlements),
      tag("flow", attempts > 1 ? t.text("out.attempt", { n: attempts }) : t.text("out.signed")),
      formatAge(ageMs),
    ],
  }));
  return panel(
    { id: "out", title: t.text("out.heading"), side: t.text("out.side"), isSlim: true },
    rows.length === 0 ? nothing(t.text("out.none")) : table(t.text("out.heading"), columns, rows),
  );
}

export function crossingsView({ t }: OpsContext, { crossings }: OpsState): VElement {
  const columns = [
    { label: t.text("cross.way") },
    { label: t.text("cross.amount"), isNumber: true },
    { label: t.text("cross.status") },
    { label: t.text("cross.age"), isNumber: true },
  ];
  const rows = crossings.map(({ intentId, from, to, amount: sum, status, reason, ageMs }) => ({
    cells: [
      [
        h("bdi", {}, from),
        " ",
        h("span.arrow.dim", { "aria-hidden": "true" }, "→"),
        h("span.vh", {}, t.text("cross.to")),
        " ",
        h("bdi", {}, to),
        h("br"),
        searchLink(intentId),
        reason !== null && [h("br"), h("span.small.dim", {}, reason)],
      ],
      amount(sum.decimal, sum.symbol),
      tag("flow", status),
      formatAge(ageMs),
    ],
  }));
  return panel(
    { id: "cross", title: t.text("cross.heading"), isSlim: true },
    rows.length === 0 ? nothing(t.text("cross.none")) : table(t.text("cross.heading"), columns, rows),
  );
}

export function heldView({ t, times }: OpsContext, { held }: OpsState): VElement {
  const columns = [
    { label: t.text("held.intent") },
    { label: t.text("held.merchant") },
    { label: t.text("held.amount"), isNumber: true },
    { label: t.text("held.on") },
    { label: t.text("held.reason") },
    { label: t.text("held.since"), isNumber: true },
  ];
  const rows = held.shown.map((each) => ({
    cells: [
      searchLink(each.intentId),
      h("bdi", {}, each.accountName),
      amount(each.amount.decimal, each.amount.symbol),
      chainName(each.chainName),
      h("code", { translate: "no" }, each.reason),
      moment(each.since, times),
    ],
  }));
  const count = t.plural("held.count", held.count, { n: groupDigits(String(held.count)) });
  const side = held.count > held.shown.length ? `${count}, ${t.text("held.shown", { n: held.shown.length })}` : count;
  return panel(
    { id: "held", title: t.text("held.heading"), ...(held.count === 0 ? {} : { side }) },
    rows.length === 0 ? nothing(t.text("held.none")) : table(t.text("held.heading"), columns, rows),
  );
}

export function booksView({ t, times }: OpsContext, { books }: OpsState): VElement {
  const columns = [
    { label: t.text("books.chain") },
    { label: t.text("books.compared"), isNumber: true },
    { label: t.text("books.at"), isNumber: true },
  ];
  const rows = (books?.passes ?? []).map(({ chainName: name, compared, completedAt }) => ({
    cells: [chainName(name), groupDigits(compared), moment(completedAt, times)],
  }));
  const state: Child =
    books === null
      ? undefined
      : books.differences === 0
        ? tag("ok", t.text("books.equal"))
        : tag("fail", t.plural("books.differ", books.differences));
  return panel(
    { id: "books", title: t.text("books.heading"), side: state, isSlim: true },
    rows.length === 0 ? nothing(t.text("books.unknown")) : table(t.text("books.heading"), columns, rows),
  );
}

export function nothing(sentence: string): VElement {
  return inside(h("p.dim", {}, sentence));
}

/** An id that opens what the search finds for it. */
function searchLink(id: string): VElement {
  return h("a", { href: `/ops/search?q=${encodeURIComponent(id)}` }, idText(id, true));
}
