import { h } from "@tributary/checkout/vnode";
import { idText, inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { newerLine } from "./newerLine.ts";

export type EventView = {
  readonly id: string;
  readonly type: string;
  readonly intentId: string | null;
  readonly merchantReference: string | null;
  readonly sequence: number;
  readonly createdAt: string;
};

export function eventsPage(
  context: MerchantContext,
  { events, olderThan, isFirstPage }: { events: readonly EventView[]; olderThan: string | null; isFirstPage: boolean },
): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("events.type") },
    { label: t.text("events.payment") },
    { label: t.text("events.sequence"), isNumber: true },
    { label: t.text("events.at"), isNumber: true },
  ];
  const rows = events.map(({ id, type, intentId, merchantReference, sequence, createdAt }) => ({
    id,
    cells: [
      [h("code", { translate: "no" }, type), h("br"), h("span.small.dim", {}, idText(id, true))],
      intentId === null
        ? "–"
        : h(
            "a",
            { href: `/dashboard/payments/${intentId}` },
            merchantReference === null ? idText(intentId, true) : h("bdi", {}, merchantReference),
          ),
      String(sequence),
      moment(createdAt, times),
    ],
  }));
  const content = [
    isFirstPage && newerLine(context, "/dashboard/events"),
    panel(
      { id: "events", title: t.text("events.title") },
      rows.length === 0
        ? inside(h("p.dim", {}, t.text("events.none")))
        : wideTable(t.text("events.title"), columns, rows),
      olderThan !== null &&
        h("footer", {}, h("a.btn", { href: `/dashboard/events?before=${olderThan}` }, t.text("events.older"))),
    ),
  ];
  return { title: t.text("events.title"), section: "events", content };
}
