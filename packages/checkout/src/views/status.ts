import { formatMoment as formatTime } from "../format.ts";
import type { Situation } from "../situation.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { icon } from "./icons.ts";
import type { PaymentContext } from "./viewContext.ts";

/** A line with a dot that breathes while the page follows the payment. */
export function live({ t, situation, state, now, times }: PaymentContext, text: string): VElement {
  if (situation.connection.isLost) {
    return h(
      "p.live",
      {},
      h("span.dot.still"),
      h("span", {}, t.text("offline.last", { time: formatTime(state.asOf, now, times) })),
    );
  }
  return h("p.live", {}, h("span.dot"), h("span", {}, text));
}

export function refresh({ t, state, situation, now, times }: PaymentContext): Child {
  return [
    state.deposits.length === 0 &&
      h("p.live", {}, h("span", {}, t.text("nojs.at", { time: formatTime(state.asOf, now, times) }))),
    h("div.btns", {}, h("a.btn.main", { href: pagePath(situation) }, icon("again"), t.text("nojs.refresh"))),
  ];
}

/** The page's own address: a posted form's answer has another one. */
function pagePath({ intentId, languageQuery }: Situation): string {
  return `/c/${intentId}${languageQuery === null || languageQuery === "" ? "" : `?${languageQuery}`}`;
}

/**
 * A strip above the task while the service cannot be reached. The page below stays right: the address does not change.
 */
export function banner({ t, situation }: PaymentContext): VElement | null {
  const { isLost, isBack, retrySeconds } = situation.connection;
  if (isBack) return h("div.banner.good", {}, icon("tick"), h("div", {}, h("p", {}, t.text("offline.back"))));
  if (!isLost) return null;
  return h(
    "div.banner",
    {},
    icon("unplugged"),
    h(
      "div",
      {},
      h("p", {}, h("b", {}, t.text("offline.title")), " ", t.richPlural("offline.do", retrySeconds)),
      h("button.link", { type: "button", "data-do": "retry" }, t.text("offline.now")),
    ),
  );
}
