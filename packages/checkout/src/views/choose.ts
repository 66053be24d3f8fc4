import type { CheckoutOrigin } from "../checkoutState.ts";
import { formatUsd } from "../format.ts";
import { searchOrigins } from "../situation.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { icon } from "./icons.ts";
import { networkMark } from "./marks.ts";
import { instruction } from "./parts.ts";
import { banner } from "./status.ts";
import { walletNote } from "./wallets.ts";
import type { PaymentContext } from "./viewContext.ts";

const SEARCHED_MIN = 6;
const SECONDS_SHOWN_MAX = 59;
/** Fees up to this many dollars are "under", because the estimate is an upper bound. */
const LOW_FEE_USD_MAX = 0.05;
const CENT_USD = 0.01;

/** The choice of coin and network. Greyed entries stay focusable and say why. */
export function renderChoose(context: PaymentContext): Child[] {
  const { t, situation } = context;
  const origins = situation.origins?.origins ?? [];
  const found = searchOrigins(origins, situation.searchText);
  const open = found.filter((origin) => origin.isIssuable).length;
  const isNoneLeft = origins.every((origin) => !origin.isIssuable);
  // What is paused may open again; what the payment does not take is behind one line, unless it is searched for.
  const isTaken = ({ reason, isIssuable }: CheckoutOrigin) => isIssuable || reason === "paused";
  const [first, rest] =
    situation.searchText === "" ? [found.filter(isTaken), found.filter((origin) => !isTaken(origin))] : [found, []];
  const list = (shown: readonly CheckoutOrigin[]) =>
    h(
      "ul.pick",
      {},
      shown.map((origin) => h("li", {}, option(context, origin))),
    );
  return [
    banner(context),
    instruction(t.text("choose.title"), [t.text("choose.do")]),
    walletNote(context),
    isNoneLeft && h("p.note.warn", {}, icon("clock"), h("span", {}, t.text("choose.noneLeft"))),
    origins.length >= SEARCHED_MIN && searchField(context),
    list(first),
    rest.length > 0 &&
      h(
        "details.others",
        {},
        h("summary", {}, icon("turn", "turn flip"), t.text("choose.rest", { n: String(rest.length) })),
        list(rest),
      ),
    h(
      "p",
      { class: found.length === 0 ? "dim" : "vh", id: "found" },
      found.length === 0 ? t.text("choose.none") : t.plural("choose.found", open),
    ),
  ];
}

function searchField({ t, situation }: PaymentContext): VElement {
  const label = t.text("choose.find");
  return h(
    "search.find",
    {},
    h("label.vh", { for: "q" }, label),
    icon("search"),
    h("input", { id: "q", type: "search", placeholder: label, autocomplete: "off", value: situation.searchText }),
  );
}

function option(context: PaymentContext, origin: CheckoutOrigin): VElement {
  const { t, situation } = context;
  const { choice } = situation;
  const isChosen = choice?.originId === origin.originId;
  const isOpen = origin.isIssuable && !(isChosen && choice?.step === "failed");
  const classes = origin.isPayout && isOpen ? "opt first" : "opt";
  const attributes = { type: "button", "data-do": "choose", "data-value": origin.originId };
  return h(
    "button",
    {
      ...attributes,
      class: classes,
      "aria-disabled": isOpen ? undefined : "true",
      "aria-busy": isChosen && choice?.step === "issuing" ? "true" : undefined,
    },
    networkMark(situation, origin.networkName, origin.symbol),
    h(
      "b",
      {},
      h("span", {}, t.rich("choose.option", { symbol: origin.symbol, network: origin.networkName })),
      origin.isPayout && isOpen && h("span.flag.good", {}, t.text("choose.best")),
    ),
    h("span", { class: isOpen ? "small dim" : "small" }, isOpen ? hint(context, origin) : whyNot(context, origin)),
    isOpen && icon("turn", "flip dim"),
  );
}

/** Time and fee, as far as they are known. */
function hint({ t }: PaymentContext, { expectedSeconds, feeUsdMax }: CheckoutOrigin): string {
  const parts: string[] = [];
  if (expectedSeconds !== null) {
    const isSeconds = expectedSeconds <= SECONDS_SHOWN_MAX;
    const count = Math.max(1, isSeconds ? expectedSeconds : Math.round(expectedSeconds / 60));
    parts.push(t.plural(isSeconds ? "choose.seconds" : "choose.minutes", count));
  }
  if (feeUsdMax !== null) {
    const fee = Number(feeUsdMax);
    const key = fee < CENT_USD ? "choose.feeTiny" : fee <= LOW_FEE_USD_MAX ? "choose.feeLow" : "choose.fee";
    parts.push(t.text(key, { fee: formatUsd(feeUsdMax, t.locale) }));
  }
  return parts.join(t.locale === "ar" ? "، " : ", ");
}

function whyNot({ t }: PaymentContext, { reason, isIssuable }: CheckoutOrigin): string {
  return t.text(isIssuable || reason === "paused" ? "choose.paused" : "choose.notHere");
}
