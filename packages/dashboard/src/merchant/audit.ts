import { h } from "@tributary/checkout/vnode";
import { inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { newerLine } from "./newerLine.ts";

export type AuditView = {
  readonly number: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly details: string;
};

export function auditPage(
  context: MerchantContext,
  { entries, nextCursor, isFirstPage }: { entries: readonly AuditView[]; nextCursor: string; isFirstPage: boolean },
): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("audit.action") },
    { label: t.text("audit.actor") },
    { label: t.text("audit.details") },
    { label: t.text("events.at"), isNumber: true },
  ];
  const rows = entries.map(({ number, at, actor, action, details }) => ({
    id: `entry-${number}`,
    cells: [
      h("code", { translate: "no" }, action),
      actor,
      h("span.id.whole", { translate: "no" }, details),
      moment(at, times),
    ],
  }));
  const content = [
    isFirstPage && newerLine(context, "/dashboard/audit"),
    panel(
      { id: "audit", title: t.text("nav.audit") },
      rows.length === 0 ? inside(h("p.dim", {}, t.text("audit.none"))) : wideTable(t.text("nav.audit"), columns, rows),
      nextCursor !== "" &&
        h(
          "footer",
          {},
          h("a.btn", { href: `/dashboard/audit?cursor=${encodeURIComponent(nextCursor)}` }, t.text("audit.older")),
        ),
    ),
  ];
  return { title: t.text("nav.audit"), section: "audit", content };
}
