import { h, type Child, type VElement } from "../vnode.ts";
import type { MessageScreen } from "../situation.ts";
import { icon, type IconName } from "./icons.ts";
import { addressCode, backLink, bold, instruction } from "./parts.ts";
import { shop } from "./orderSummary.ts";
import type { ViewContext } from "./viewContext.ts";

const MESSAGES = {
  stale: { title: "stale.title", sentence: "stale.do", sign: "broken" },
  used: { title: "used.title", sentence: "used.do", sign: "broken" },
  ended: { title: "ended.title", sentence: "ended.do", sign: "clock" },
  unknown: { title: "unknown.title", sentence: "unknown.do", sign: "ask" },
} as const satisfies Record<string, { title: string; sentence: string; sign: IconName }>;

/** Screens without a payment: one card, one sentence, at most one button. */
export function messagePage(context: ViewContext, screen: MessageScreen): VElement {
  return h(
    "main.card.message",
    { "data-screen": screen, "aria-busy": screen === "opening" ? "true" : undefined },
    h("section.task", { "aria-labelledby": "now" }, messageContent(context, screen)),
  );
}

function messageContent(context: ViewContext, screen: MessageScreen): Child {
  const { t, situation } = context;
  switch (screen) {
    case "opening":
      return [
        h("h1.wait", { id: "now", tabindex: "-1" }, t.text("open.wait")),
        h("div.loading", { "aria-hidden": "true" }),
        !situation.isLive && h("noscript", {}, h("p.note.warn", {}, h("span", {}, t.text("nojs.need")))),
      ];
    case "refused":
      return refusedContent(context);
    case "archived": {
      const merchant = bold(situation.state?.merchant.name ?? "");
      return [
        shop(context),
        instruction(t.text("archived.title"), [t.rich("archived.do", { merchant })], { name: "box", tone: "" }),
        backLink(context),
      ];
    }
    case "down":
      return [
        instruction(t.text("down.title"), [t.text("down.do")], { name: "cloud", tone: "warn" }),
        h(
          "div.btns",
          {},
          situation.isLive
            ? h("button.btn", { type: "button", "data-do": "retry" }, icon("again"), t.text("offline.now"))
            : h("a.btn", { href: `/c/${situation.intentId}` }, icon("again"), t.text("nojs.refresh")),
        ),
      ];
    default: {
      const { title, sentence, sign } = MESSAGES[screen];
      return instruction(t.text(title), [t.text(sentence)], { name: sign, tone: "" });
    }
  }
}

/** Loud, and nothing to pay with: the address does not follow from the payment's terms. */
function refusedContent(context: ViewContext): Child {
  const { t, situation } = context;
  const { check, state } = situation;
  const merchant = state?.merchant.name ?? "";
  const row = (name: string, address: string) =>
    h("div.tall", {}, h("dt", {}, name), h("dd", {}, address === "" ? "–" : addressCode(address)));
  return [
    shop(context),
    h(
      "div.stop",
      { role: "alert" },
      icon("shieldNo"),
      h("h1", { id: "now", tabindex: "-1" }, t.text("refuse.title")),
      h("p", {}, t.text("refuse.do")),
      h("p", {}, h("b", {}, t.rich("refuse.next", { merchant }))),
    ),
    check.outcome === "mismatch" &&
      h(
        "details",
        {},
        h("summary", {}, icon("turn", "turn flip"), t.text("refuse.details")),
        h("dl.rows", {}, row(t.text("refuse.expected"), check.expected), row(t.text("refuse.got"), check.received)),
      ),
  ];
}
