import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { facts, idText, inside, moment, panel } from "../parts/parts.ts";
import { wideTable } from "../parts/table.ts";
import { endpointFields, secretNote, type EndpointInput } from "./endpointFields.ts";
import { actionForm, type Manager } from "./forms.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { newerLine } from "./newerLine.ts";
import { stateTag } from "./payments.ts";

export type EndpointView = {
  readonly endpointId: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly status: string;
  readonly failingSince: string | null;
};

/** What stands above a page of webhooks after a change: what was done, or why nothing was. */
export type WebhookNotice = {
  readonly done?: string;
  readonly problem?: string;
  /** What was entered, where it was refused. */
  readonly input?: EndpointInput;
};

/** `manager` is null where the key only reads. */
export function webhooksPage(
  context: MerchantContext,
  endpoints: readonly EndpointView[],
  { manager, notice = {} }: { manager: Manager | null; notice?: WebhookNotice },
): MerchantPage {
  const { t, times } = context;
  const columns = [
    { label: t.text("hooks.url") },
    { label: t.text("hooks.types") },
    { label: t.text("hooks.status") },
    { label: t.text("hooks.failing"), isNumber: true },
  ];
  const rows = endpoints.map(({ endpointId, url, types, status, failingSince }) => ({
    id: endpointId,
    cells: [
      h("a", { href: endpointPath(endpointId) }, h("span.id.whole", { translate: "no" }, url)),
      types.join(", "),
      stateTag(status),
      failingSince === null ? "–" : moment(failingSince, times),
    ],
  }));
  const add = manager !== null && [
    panel(
      { id: "add", title: t.text("hooks.add") },
      inside(
        problemLine(notice),
        actionForm(
          { manager, action: "/dashboard/webhooks" },
          endpointFields(context, notice.input ?? { url: "", types: "*" }),
          h("button.btn.main-act", { type: "submit" }, t.text("hooks.add")),
        ),
      ),
    ),
  ];
  const content = [
    doneLine(context, notice),
    panel(
      { id: "endpoints", title: t.text("hooks.title") },
      rows.length === 0
        ? inside(h("p.dim", {}, t.text(manager === null ? "hooks.none" : "hooks.noneYet")))
        : wideTable(t.text("hooks.title"), columns, rows),
    ),
    add,
  ];
  return { title: t.text("hooks.title"), section: "webhooks", content };
}

export type DeliveryView = {
  readonly number: string;
  readonly eventId: string | null;
  readonly type: string | null;
  readonly status: string;
  readonly tries: number;
  readonly lastAnswer: string | null;
  readonly nextTryAt: string | null;
  readonly createdAt: string;
};

export type EndpointPageData = {
  readonly deliveries: readonly DeliveryView[];
  readonly nextCursor: string;
  readonly isFirstPage: boolean;
  readonly manager: Manager | null;
  readonly notice?: WebhookNotice;
};

export function endpointPage(context: MerchantContext, endpoint: EndpointView, data: EndpointPageData): MerchantPage {
  const { t, times } = context;
  const { manager, notice = {} } = data;
  const content = [
    h("p.crumb", {}, h("a", { href: "/dashboard/webhooks" }, t.text("hooks.title"))),
    doneLine(context, notice),
    problemLine(notice),
    panel(
      { id: "endpoint", title: h("span.id.whole", { translate: "no" }, endpoint.url), side: stateTag(endpoint.status) },
      inside(
        facts([
          [t.text("hooks.types"), endpoint.types.join(", ")],
          ["ID", idText(endpoint.endpointId)],
          ...(endpoint.failingSince === null
            ? []
            : [[t.text("hooks.failing"), moment(endpoint.failingSince, times)] as const]),
        ]),
        manager !== null && actions(context, endpoint, manager),
      ),
    ),
    data.isFirstPage && newerLine(context, endpointPath(endpoint.endpointId)),
    deliveriesPanel(context, endpoint, data),
    manager !== null && changePanel(context, endpoint, { manager, notice }),
  ];
  return { title: t.text("hooks.deliveries"), section: "webhooks", content };
}

function deliveriesPanel(
  { t, times }: MerchantContext,
  { endpointId }: EndpointView,
  { deliveries, nextCursor, manager }: EndpointPageData,
): VElement {
  const columns = [
    { label: t.text("hooks.event") },
    { label: t.text("hooks.status") },
    { label: t.text("hooks.tries"), isNumber: true },
    { label: t.text("hooks.answer") },
    { label: t.text("hooks.next"), isNumber: true },
    { label: t.text("hooks.created"), isNumber: true },
    ...(manager === null ? [] : [{ label: t.text("hooks.again") }]),
  ];
  const rows = deliveries.map((each) => ({
    id: `delivery-${each.number}`,
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
      ...(manager === null ? [] : [redeliverForm(manager, each)]),
    ],
  }));
  function redeliverForm(by: Manager, { eventId, type }: DeliveryView): Child {
    if (eventId === null || type === "webhook_endpoint.test") return "–";
    return actionForm(
      { manager: by, action: `${endpointPath(endpointId)}/redeliver` },
      h("input", { type: "hidden", name: "eventId", value: eventId }),
      h(
        "button.btn.plain",
        { type: "submit", "aria-label": t.text("hooks.againOf", { type: type ?? "" }) },
        t.text("hooks.again"),
      ),
    );
  }
  const older = `${endpointPath(endpointId)}?cursor=${encodeURIComponent(nextCursor)}`;
  return panel(
    { id: "deliveries", title: t.text("hooks.deliveries") },
    rows.length === 0
      ? inside(h("p.dim", {}, t.text("hooks.noDelivery")))
      : wideTable(t.text("hooks.deliveries"), columns, rows),
    nextCursor !== "" && h("footer", {}, h("a.btn", { href: older }, t.text("hooks.older"))),
  );
}

function actions({ t }: MerchantContext, { endpointId, status }: EndpointView, manager: Manager): VElement {
  const isOn = status === "enabled";
  const button = (action: string, label: string) =>
    actionForm(
      { manager, action: `${endpointPath(endpointId)}/${action}` },
      h("button.btn", { type: "submit" }, label),
    );
  return h(
    "div.acts",
    {},
    isOn && button("test", t.text("hooks.test")),
    isOn ? button("disable", t.text("hooks.disable")) : button("enable", t.text("hooks.enable")),
    button("rotate", t.text("hooks.rotate")),
  );
}

function changePanel(
  context: MerchantContext,
  { endpointId, url, types }: EndpointView,
  { manager, notice }: { manager: Manager; notice: WebhookNotice },
): VElement {
  const { t } = context;
  return panel(
    { id: "change", title: t.text("hooks.change") },
    inside(
      actionForm(
        { manager, action: endpointPath(endpointId) },
        endpointFields(context, notice.input ?? { url, types: types.join(", ") }),
        h("button.btn", { type: "submit" }, t.text("hooks.save")),
      ),
      h(
        "details",
        {},
        h("summary", {}, t.text("hooks.delete")),
        h("p", {}, t.text("hooks.delete.what")),
        actionForm(
          { manager, action: `${endpointPath(endpointId)}/delete` },
          h("button.btn.risk", { type: "submit" }, t.text("hooks.delete")),
        ),
      ),
    ),
  );
}

/** The only page that shows a secret. It is the answer to a form and stands nowhere afterwards. */
export function secretPage(
  context: MerchantContext,
  { endpointId, url, secret }: { endpointId: string; url: string; secret: string },
): MerchantPage {
  const { t } = context;
  const content = [
    h("p.crumb", {}, h("a", { href: endpointPath(endpointId) }, t.text("hooks.toEndpoint"))),
    panel(
      { id: "secret", title: t.text("hooks.secret") },
      inside(h("p", {}, h("span.id.whole", { translate: "no" }, url)), secretNote(context, secret)),
    ),
  ];
  return { title: t.text("hooks.secret"), section: "webhooks", content };
}

function endpointPath(endpointId: string): string {
  return `/dashboard/webhooks/${endpointId}`;
}

function doneLine({ t }: MerchantContext, { done }: WebhookNotice): Child {
  const text = DONE[done ?? ""];
  return text !== undefined && h("p.note.good-note", { role: "status" }, t.text(text));
}

const DONE: Readonly<Record<string, "done.tested" | "done.again" | "done.saved" | "done.deleted">> = {
  tested: "done.tested",
  again: "done.again",
  saved: "done.saved",
  deleted: "done.deleted",
};

function problemLine({ problem }: WebhookNotice): Child {
  return problem !== undefined && h("p.note.bad-note", { role: "alert", id: "problem" }, problem);
}
