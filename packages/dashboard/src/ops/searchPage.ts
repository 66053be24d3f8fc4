import { h, type VElement } from "@tributary/checkout/vnode";
import { amount, chainName, command, facts, idText, inside, moment, panel, tag, type Tone } from "../parts/parts.ts";
import { table } from "../parts/table.ts";
import type { OpsContext } from "./opsContext.ts";
import { frame, type RenderedOps } from "./opsPage.ts";
import type { OpsFound, OpsSearch, OpsState } from "./opsState.ts";

/** What the search found, with all that an operator needs of each intent. */
export function renderSearch(
  context: OpsContext,
  state: Pick<OpsState, "installation">,
  { query, found, hasMore }: OpsSearch,
): RenderedOps {
  const { t } = context;
  const content = [
    h("p", {}, h("a", { href: "/ops" }, t.text("search.back"))),
    h("h1", {}, t.rich("search.heading", { query })),
    found.length === 0 && h("p", { role: "status" }, t.text("search.none")),
    hasMore && h("p", {}, t.text("search.more")),
    found.map((each) => foundView(context, each)),
  ];
  return {
    title: t.text("title.search", { host: state.installation.host }),
    body: frame(context, { ...state, query }, content),
  };
}

const TONES: Readonly<Record<string, Tone>> = {
  paid: "ok",
  overpaid: "ok",
  counted: "ok",
  landed: "ok",
  settled: "done",
  partial: "part",
  held: "stop",
  failed: "fail",
  dropped: "fail",
  submitted: "flow",
  bridging: "flow",
  seen: "flow",
  confirmed: "flow",
};

function toneOf(state: string): Tone {
  return TONES[state] ?? "plain";
}

function foundView(context: OpsContext, found: OpsFound): VElement {
  const { t, times } = context;
  const { intentId, accountId, accountName, merchantReference, price, received } = found;
  return panel(
    { id: intentId, title: idText(intentId) },
    inside(
      facts([
        [
          t.text("search.status"),
          [tag(toneOf(found.status), found.status), " ", tag(toneOf(found.paymentStatus), found.paymentStatus)],
        ],
        [t.text("search.merchant"), [h("bdi", {}, accountName), " ", idText(accountId)]],
        ...(merchantReference === null ? [] : [[t.text("search.reference"), h("bdi", {}, merchantReference)] as const]),
        [t.text("search.price"), price === null ? t.text("search.open") : amount(price.decimal, price.symbol)],
        [t.text("search.received"), amount(received.decimal, received.symbol)],
        [t.text("search.inbox"), h("span.id.whole", { translate: "no" }, found.inboxAddress)],
        [t.text("search.created"), moment(found.createdAt, times)],
      ]),
      command(`npx tributary intents show ${intentId}`, t.text("cmd.copy")),
      command(`npx tributary rescan ${intentId}`, t.text("cmd.copy")),
    ),
    depositTable(context, found),
    settlementTable(context, found),
  );
}

function depositTable({ t, times }: OpsContext, { deposits }: OpsFound): VElement | false {
  if (deposits.length === 0) return inside(h("p.dim", {}, t.text("search.none.deposits")));
  const columns = [
    { label: t.text("search.deposits") },
    { label: t.text("held.amount"), isNumber: true },
    { label: t.text("held.on") },
    { label: t.text("search.status") },
    { label: t.text("search.transaction") },
    { label: t.text("search.seen"), isNumber: true },
  ];
  const rows = deposits.map((each) => ({
    cells: [
      idText(each.depositId, true),
      amount(each.amount.decimal, each.amount.symbol),
      chainName(each.chainName),
      [tag(toneOf(each.status), each.status), each.reason !== null && [" ", h("code", {}, each.reason)]],
      idText(each.txHash, true),
      moment(each.seenAt, times),
    ],
  }));
  return table(t.text("search.deposits"), columns, rows);
}

function settlementTable({ t, times }: OpsContext, { settlements }: OpsFound): VElement | false {
  if (settlements.length === 0) return false;
  const columns = [
    { label: t.text("search.settlements") },
    { label: t.text("search.net"), isNumber: true },
    { label: t.text("held.on") },
    { label: t.text("search.status") },
    { label: t.text("search.transaction") },
    { label: t.text("search.created"), isNumber: true },
  ];
  const rows = settlements.map((each) => ({
    cells: [
      idText(each.settlementId, true),
      each.net === null ? "–" : amount(each.net.decimal, each.net.symbol),
      chainName(each.chainName),
      [tag(toneOf(each.status), each.status), each.reason !== null && [" ", h("code", {}, each.reason)]],
      each.txHash === null ? "–" : idText(each.txHash, true),
      moment(each.createdAt, times),
    ],
  }));
  return table(t.text("search.settlements"), columns, rows);
}
