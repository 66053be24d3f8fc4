import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { groupDigits } from "../format.ts";
import { chainName, command, facts, idText, inside, moment, panel } from "../parts/parts.ts";
import { table } from "../parts/table.ts";
import type { MerchantContext, MerchantPage } from "./frame.ts";
import { stateTag, sum, type PaymentRow, type Sum } from "./payments.ts";

export type PaymentDetail = {
  readonly payment: PaymentRow;
  readonly counted: Sum;
  readonly settled: Sum;
  readonly fee: Sum;
  readonly inboxAddress: string;
  readonly payoutWallet: string;
  readonly deposits: readonly {
    readonly depositId: string;
    readonly amount: Sum;
    readonly chainName: string;
    readonly sender: string;
    readonly status: string;
    readonly reason: string | null;
    readonly txHash: string;
    readonly seenAt: string;
    readonly countedAt: string | null;
  }[];
  readonly settlements: readonly {
    readonly settlementId: string;
    readonly net: Sum | null;
    readonly chainName: string;
    readonly status: string;
    readonly reason: string | null;
    readonly txHash: string | null;
    readonly createdAt: string;
    readonly submittedAt: string | null;
    readonly landedAt: string | null;
  }[];
  readonly settledAt: string | null;
  readonly archivedAt: string | null;
  /** Rows of each kind that are read. */
  readonly rowsMax: number;
  /** The record of the API, as JSON. */
  readonly raw: string;
};

export function paymentPage(context: MerchantContext, detail: PaymentDetail): MerchantPage {
  const { t } = context;
  const { payment } = detail;
  const content = [
    h("p.crumb", {}, h("a", { href: "/dashboard" }, t.text("pay.back")), " ", idText(payment.intentId)),
    slip(context, detail),
    heldView(context, detail),
    h(
      "div.cols",
      {},
      h("div.stack", {}, storyView(context, detail), depositsView(context, detail), settlementsView(context, detail)),
      h("div.stack", {}, inboxView(context, detail)),
    ),
    h(
      "details.panel.raw",
      {},
      h("summary", {}, t.text("pay.raw")),
      h("pre.code.wrap", { id: "record", tabindex: "0" }, detail.raw),
    ),
  ];
  return { title: payment.merchantReference ?? t.text("list.payment"), section: "payments", content };
}

/** The payment as a slip: what was asked, and the sum from start to end. */
function slip({ t }: MerchantContext, { payment, counted, settled, fee }: PaymentDetail): VElement {
  const rows: [string, Child][] = [
    [t.text("pay.price"), payment.price === null ? t.text("list.open") : sum(payment.price)],
    [t.text("pay.received"), sum(payment.received)],
    [t.text("pay.counted"), sum(counted)],
    [t.text("pay.settled"), sum(settled)],
    [t.text("pay.fee"), sum(fee)],
  ];
  return h(
    "section.slip",
    {},
    h(
      "div.up",
      {},
      h(
        "div.head",
        {},
        h("p.amount", {}, payment.price === null ? t.text("list.open") : largeSum(payment.price)),
        h("p.chips", {}, stateTag(payment.paymentStatus), stateTag(payment.status)),
      ),
      payment.description !== null && h("p.dim", {}, h("bdi", {}, payment.description)),
    ),
    h("div.tear"),
    h(
      "dl.money",
      {},
      rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      h("div.net", {}, h("dt", {}, t.text("pay.net")), h("dd", {}, sum(payment.net))),
    ),
  );
}

/** The sum that the slip is about: number and coin in their own sizes. */
function largeSum({ decimal, symbol }: Sum): Child[] {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return [h("bdi", { dir: "ltr" }, `${groupDigits(whole)}.${fraction.padEnd(2, "0")}`), " ", h("span", {}, symbol)];
}

/** Held money always has its cause, and a place that says the remedy. */
function heldView({ t }: MerchantContext, { deposits }: PaymentDetail): VElement[] {
  return deposits
    .filter(({ status }) => status === "held")
    .map(({ depositId, amount, chainName: chain, reason }) =>
      h(
        "section",
        { class: "cause", id: `held-${depositId}` },
        h(
          "svg",
          { class: "ic", viewBox: "0 0 24 24", "aria-hidden": "true" },
          h("path", { d: "M12 4 2.8 20h18.4zM12 10v4.5M12 17.3v.2" }),
        ),
        h(
          "div",
          {},
          h(
            "h2",
            {},
            t.rich("pay.held.what", {
              amount: sum(amount),
              chain,
              reason: h("code", { translate: "no" }, reason ?? ""),
            }),
          ),
          h(
            "p",
            {},
            t.text("pay.held.who"),
            " ",
            h("a", { href: "/docs/integrate/deposits-and-settlements" }, t.text("pay.held.docs")),
          ),
        ),
      ),
    );
}

type Entry = { readonly at: string; readonly what: Child };

function storyView({ t, times }: MerchantContext, detail: PaymentDetail): VElement {
  const { payment, deposits, settlements, settledAt, archivedAt } = detail;
  const entries: Entry[] = [{ at: payment.createdAt, what: t.text("pay.created") }];
  for (const { amount, chainName: chain, seenAt, countedAt } of deposits) {
    entries.push({ at: seenAt, what: t.rich("pay.seen", { amount: sum(amount), chain }) });
    if (countedAt !== null) entries.push({ at: countedAt, what: t.rich("pay.counted.at", { amount: sum(amount) }) });
  }
  for (const { net, chainName: chain, submittedAt, landedAt } of settlements) {
    if (submittedAt !== null) entries.push({ at: submittedAt, what: t.rich("pay.submitted", { chain }) });
    if (landedAt !== null && net !== null)
      entries.push({ at: landedAt, what: t.rich("pay.landed", { amount: sum(net) }) });
  }
  if (settledAt !== null) entries.push({ at: settledAt, what: t.text("pay.settledAt") });
  if (archivedAt !== null) entries.push({ at: archivedAt, what: t.text("pay.archivedAt") });
  const sorted = entries.toSorted((one, other) => one.at.localeCompare(other.at));
  return panel(
    { id: "story", title: t.text("pay.story") },
    inside(
      h(
        "ol.tl.flat-tl",
        {},
        h(
          "li.past",
          {},
          h(
            "ol",
            {},
            sorted.map(({ at, what }) => h("li", {}, moment(at, times), h("div", {}, what))),
          ),
        ),
      ),
    ),
  );
}

function inboxView({ t }: MerchantContext, { inboxAddress, payoutWallet }: PaymentDetail): VElement {
  return panel(
    { id: "inbox", title: t.text("pay.inbox") },
    inside(
      h("p.js", {
        id: "check",
        role: "status",
        "data-matches": t.text("check.matches", { fee: "{fee}" }),
        "data-differs": t.text("check.differs"),
        "data-other-payout": t.text("check.otherPayout"),
        "data-unknown": t.text("check.unknown"),
      }),
      facts(
        [
          [t.text("pay.inbox.address"), h("span.id.whole", { id: "inbox-address", translate: "no" }, inboxAddress)],
          [t.text("pay.wallet"), h("span.id.whole", { id: "payout-wallet", translate: "no" }, payoutWallet)],
        ],
        "kv",
      ),
      h("p.small.dim", {}, t.text("pay.inbox.check")),
      command("npx tributary verify payment.json --payout YOUR_WALLET", t.text("cmd.copy")),
    ),
  );
}

function depositsView({ t, times }: MerchantContext, { deposits, rowsMax }: PaymentDetail): VElement | false {
  if (deposits.length === 0) return false;
  const columns = [
    { label: t.text("pay.deposits") },
    { label: t.text("pay.amount"), isNumber: true },
    { label: t.text("pay.chain") },
    { label: t.text("pay.state") },
    { label: t.text("pay.sender") },
    { label: t.text("pay.tx") },
    { label: t.text("pay.at"), isNumber: true },
  ];
  const rows = deposits.map((each) => ({
    cells: [
      idText(each.depositId, true),
      sum(each.amount),
      chainName(each.chainName),
      [stateTag(each.status), each.reason !== null && [" ", h("code", { translate: "no" }, each.reason)]],
      idText(each.sender, true),
      idText(each.txHash, true),
      moment(each.seenAt, times),
    ],
  }));
  return panel(
    { id: "deposits", title: t.text("pay.deposits") },
    table(t.text("pay.deposits"), columns, rows),
    rows.length >= rowsMax && h("footer", {}, t.text("pay.more", { n: rowsMax })),
  );
}

function settlementsView({ t, times }: MerchantContext, { settlements, rowsMax }: PaymentDetail): VElement | false {
  if (settlements.length === 0) return false;
  const columns = [
    { label: t.text("pay.settlements") },
    { label: t.text("pay.net"), isNumber: true },
    { label: t.text("pay.chain") },
    { label: t.text("pay.state") },
    { label: t.text("pay.tx") },
    { label: t.text("list.created"), isNumber: true },
  ];
  const rows = settlements.map((each) => ({
    cells: [
      idText(each.settlementId, true),
      each.net === null ? "–" : sum(each.net),
      chainName(each.chainName),
      [stateTag(each.status), each.reason !== null && [" ", h("code", { translate: "no" }, each.reason)]],
      each.txHash === null ? "–" : idText(each.txHash, true),
      moment(each.createdAt, times),
    ],
  }));
  return panel(
    { id: "settlements", title: t.text("pay.settlements") },
    table(t.text("pay.settlements"), columns, rows),
    rows.length >= rowsMax && h("footer", {}, t.text("pay.more", { n: rowsMax })),
  );
}
