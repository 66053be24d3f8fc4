import {
  chooseScreen,
  findPayTarget,
  type MessageScreen,
  type PaymentScreen,
  type Screen,
  type Situation,
} from "../situation.ts";
import type { TimeFormat } from "../format.ts";
import type { Translator } from "../translator.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { renderChoose } from "./choose.ts";
import { renderHeld } from "./held.ts";
import { icon } from "./icons.ts";
import { messagePage } from "./message.ts";
import { renderLate, renderPaid } from "./outcome.ts";
import { foot } from "./parts.ts";
import { renderPay } from "./pay.ts";
import { isUnderWay, renderSeveral, renderSeen } from "./progress.ts";
import { orderSummary } from "./orderSummary.ts";
import type { PaymentContext, ViewContext } from "./viewContext.ts";

export type Rendered = {
  readonly title: string;
  /** What happened, in one line. */
  readonly heading: string;
  readonly screen: Screen;
  readonly body: readonly VElement[];
};

const MESSAGE_SCREENS: readonly Screen[] = [
  "opening",
  "stale",
  "used",
  "ended",
  "unknown",
  "down",
  "refused",
  "archived",
];

const TASKS: { readonly [Each in PaymentScreen]: (context: PaymentContext) => Child[] } = {
  choose: renderChoose,
  ready: renderPay,
  underpaid: renderPay,
  seen: renderSeen,
  many: renderSeveral,
  paid: renderPaid,
  overpaid: renderPaid,
  late: renderLate,
  held: renderHeld,
};

/** Draws the page. Pure: the server and the page's script get the same elements from the same situation. */
export function renderPage(
  situation: Situation,
  { t, now, times }: { t: Translator; now: string; times: TimeFormat },
): Rendered {
  const screen = chooseScreen(situation);
  const context: ViewContext = { t, situation, screen, now, times };
  const main =
    isMessage(screen) || situation.state === null
      ? messagePage(context, messageOr(screen))
      : paymentPage(context, screen);
  const isTest = situation.state?.isTest === true;
  const body = [
    ...(isTest ? [h("header.ribbon", {}, icon("flask"), h("strong", {}, t.text("test.ribbon")))] : []),
    main,
    foot(context),
    h("p.vh", { role: "status", id: "say" }, situation.announcement),
  ];
  const heading = textOf(findHeading(main) ?? main).replaceAll("\u00a0", " ");
  return { title: pageTitle(context, heading), heading, screen, body };
}

function isMessage(screen: Screen): screen is MessageScreen {
  return MESSAGE_SCREENS.includes(screen);
}

function messageOr(screen: Screen): MessageScreen {
  return isMessage(screen) ? screen : "opening";
}

function paymentPage(context: ViewContext, screen: PaymentScreen): VElement {
  const { situation } = context;
  const { state } = situation;
  if (state === null) return messagePage(context, "opening");
  const payment: PaymentContext = { ...context, state, target: findPayTarget(situation) };
  return h(
    "main.card",
    { "data-screen": screen },
    orderSummary(payment),
    h("section.task", { "aria-labelledby": "now", "data-task": screen }, TASKS[screen](payment)),
  );
}

/** The title tells the state to other tabs. */
function pageTitle({ t, situation, screen }: ViewContext, heading: string): string {
  const { state } = situation;
  if (state === null) return heading;
  const deposit = state.deposits.find(isUnderWay);
  const isCounting = (screen === "seen" || screen === "many") && deposit !== undefined && deposit.required !== null;
  const what = isCounting
    ? `${deposit.confirmations} ${t.text("seen.ring", { m: String(deposit.required) })}`.replaceAll(
        /[\u2068\u2069]/g,
        "",
      )
    : heading;
  return `${what} – ${state.merchant.name}`;
}

function findHeading(element: VElement): VElement | undefined {
  if (element.tag === "h1") return element;
  for (const child of element.children) {
    const found = typeof child === "string" ? undefined : findHeading(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function textOf(element: VElement): string {
  return element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}
