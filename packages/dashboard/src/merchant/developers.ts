import { h } from "@tributary/checkout/vnode";
import { facts, idText, inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { stateTag } from "./payments.ts";

export type EndpointView = {
  readonly endpointId: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly status: string;
  readonly failingSince: string | null;
};

export function webhooksPage(context: MerchantContext, endpoints: readonly EndpointView[]): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("hooks.url") },
    { label: t.text("hooks.types") },
    { label: t.text("hooks.status") },
    { label: t.text("hooks.failing"), isNumber: true },
  ];
  const rows = endpoints.map(({ endpointId, url, types, status, failingSince }) => ({
    cells: [
      h("a", { href: `/dashboard/webhooks/${endpointId}` }, h("span.id.whole", { translate: "no" }, url)),
      types.join(", "),
      stateTag(status),
      failingSince === null ? "–" : moment(failingSince, times),
    ],
  }));
  const content = [
    panel(
      { id: "endpoints", title: t.text("hooks.title") },
      rows.length === 0
        ? inside(h("p.dim", {}, t.text("hooks.none")))
        : wideTable(t.text("hooks.title"), columns, rows),
    ),
  ];
  return { title: t.text("hooks.title"), section: "webhooks", content };
}

export type DeliveryView = {
  readonly eventId: string | null;
  readonly type: string | null;
  readonly status: string;
  readonly tries: number;
  readonly lastAnswer: string | null;
  readonly nextTryAt: string | null;
  readonly createdAt: string;
};

export function endpointPage(
  context: MerchantContext,
  endpoint: EndpointView,
  { deliveries, nextCursor }: { deliveries: readonly DeliveryView[]; nextCursor: string },
): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("hooks.event") },
    { label: t.text("hooks.status") },
    { label: t.text("hooks.tries"), isNumber: true },
    { label: t.text("hooks.answer") },
    { label: t.text("hooks.next"), isNumber: true },
    { label: t.text("hooks.created"), isNumber: true },
  ];
  const rows = deliveries.map((each) => ({
    cells: [
      [
        h("code", { translate: "no" }, each.type ?? "–"),
        h("br"),
        each.eventId !== null && h("span.small.dim", {}, idText(each.eventId, true)),
      ],
      stateTag(each.status),
      String(each.tries),
      each.lastAnswer === null ? "–" : h("span.whole", { translate: "no" }, each.lastAnswer),
      each.nextTryAt === null ? "–" : moment(each.nextTryAt, times),
      moment(each.createdAt, times),
    ],
  }));
  const older = `/dashboard/webhooks/${endpoint.endpointId}?cursor=${encodeURIComponent(nextCursor)}`;
  const content = [
    h("p.crumb", {}, h("a", { href: "/dashboard/webhooks" }, t.text("hooks.title"))),
    panel(
      { id: "endpoint", title: h("span.id.whole", { translate: "no" }, endpoint.url), side: stateTag(endpoint.status) },
      inside(
        facts([
          [t.text("hooks.event"), endpoint.types.join(", ")],
          ["ID", idText(endpoint.endpointId)],
          ...(endpoint.failingSince === null
            ? []
            : [[t.text("hooks.failing"), moment(endpoint.failingSince, times)] as const]),
        ]),
      ),
    ),
    panel(
      { id: "deliveries", title: t.text("hooks.deliveries") },
      rows.length === 0
        ? inside(h("p.dim", {}, t.text("hooks.noDelivery")))
        : wideTable(t.text("hooks.deliveries"), columns, rows),
      nextCursor !== "" && h("footer", {}, h("a.btn", { href: older }, t.text("hooks.older"))),
    ),
  ];
  return { title: t.text("hooks.deliveries"), section: "webhooks", content };
}

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
  { events, olderThan }: { events: readonly EventView[]; olderThan: string | null },
): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("events.type") },
    { label: t.text("events.payment") },
    { label: t.text("events.sequence"), isNumber: true },
    { label: t.text("events.at"), isNumber: true },
  ];
  const rows = events.map(({ id, type, intentId, merchantReference, sequence, createdAt }) => ({
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
