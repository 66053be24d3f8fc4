import {
  chooseScreen,
  findPayTarget,
  type LoneScreen,
  type PaymentScreen,
  type Screen,
  type Situation,
} from "../situation.ts";
import type { TimeFormat } from "../format.ts";
import type { Translator } from "../translator.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { chooseTask } from "./choose.ts";
import { heldTask } from "./held.ts";
import { icon } from "./icons.ts";
import { lonePage } from "./lone.ts";
import { lateTask, paidTask } from "./outcome.ts";
import { foot } from "./parts.ts";
import { payTask } from "./pay.ts";
import { isUnderWay, manyTask, seenTask } from "./progress.ts";
import { slip } from "./slip.ts";
import type { PaymentContext, ViewContext } from "./viewContext.ts";

export type Rendered = {
  readonly title: string;
  /** What happened, in one line. */
  readonly heading: string;
  readonly screen: Screen;
  readonly body: readonly VElement[];
};

const LONE: readonly Screen[] = ["opening", "stale", "used", "ended", "unknown", "down", "refused", "archived"];

const TASKS: { readonly [Each in PaymentScreen]: (context: PaymentContext) => Child[] } = {
  choose: chooseTask,
  ready: payTask,
  underpaid: payTask,
  seen: seenTask,
  many: manyTask,
  paid: paidTask,
  overpaid: paidTask,
  late: lateTask,
  held: heldTask,
};

/** Draws the page. Pure: the server and the page's script get the same elements from the same situation. */
export function renderPage(
  situation: Situation,
  { t, now, times }: { t: Translator; now: string; times: TimeFormat },
): Rendered {
  const screen = chooseScreen(situation);
  const context: ViewContext = { t, situation, screen, now, times };
  const main =
    isLone(screen) || situation.state === null ? lonePage(context, loneOr(screen)) : paymentPage(context, screen);
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

function isLone(screen: Screen): screen is LoneScreen {
  return LONE.includes(screen);
}

function loneOr(screen: Screen): LoneScreen {
  return isLone(screen) ? screen : "opening";
}

function paymentPage(context: ViewContext, screen: PaymentScreen): VElement {
  const { situation } = context;
  const { state } = situation;
  if (state === null) return lonePage(context, "opening");
  const payment: PaymentContext = { ...context, state, target: findPayTarget(situation) };
  return h(
    "main.card",
    { "data-screen": screen },
    slip(payment),
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
