import type { CheckoutDeposit } from "../checkoutState.ts";
import { formatMoney } from "../format.ts";
import { h, type Child, type VElement } from "../vnode.ts";
import { backLink, bold, explorerLink, instruction } from "./parts.ts";
import { banner, live, refresh } from "./status.ts";
import { transferList } from "./transfers.ts";
import { money, type PaymentContext } from "./viewContext.ts";

/** Above this number the ring is one arc: strokes would be too thin to count. */
const STROKES_MAX = 20;
const RADIUS = 79;
/** Times the expected time after which the network counts as slow. */
const SLOW_FACTOR = 3;

/** The whole payment is under way in one transfer. */
export function renderSeen(context: PaymentContext): Child[] {
  const { t, state } = context;
  const deposit = state.deposits.find(isUnderWay);
  const amount = deposit === undefined ? money(context, state.arrived) : formatMoney(deposit.amount, deposit.symbol);
  return [
    banner(context),
    instruction(t.text("seen.title"), [
      t.rich("seen.do", { amount: bold(amount), merchant: bold(state.merchant.name) }),
    ]),
    deposit !== undefined &&
      h(
        "div.progress-steps",
        {},
        ring(context, deposit),
        live(context, timeLeft(context, deposit)),
        explorerLink(context, deposit.explorerUrl),
      ),
    !context.situation.isLive && refresh(context),
    backLink(context),
  ];
}

/** The whole payment is under way in several transfers. */
export function renderSeveral(context: PaymentContext): Child[] {
  const { t, state } = context;
  const counted = state.deposits.filter((deposit) => deposit.status === "counted").length;
  const deposit = state.deposits.find(isUnderWay);
  const title = counted === 0 ? t.text("seen.title") : t.plural("many.title", counted);
  return [
    banner(context),
    instruction(title, [t.rich("many.do", { price: money(context, state.price ?? state.arrived) })]),
    transferList(context),
    context.situation.isLive ? deposit !== undefined && live(context, timeLeft(context, deposit)) : refresh(context),
  ];
}

export function isUnderWay(deposit: CheckoutDeposit): boolean {
  return deposit.status === "seen" || deposit.status === "confirmed";
}

function timeLeft({ t, situation, now }: PaymentContext, deposit: CheckoutDeposit): string {
  const origin = situation.origins?.origins.find(({ networkName }) => networkName === deposit.networkName);
  const expectedMs = (origin?.expectedSeconds ?? Infinity) * 1_000;
  if (Date.parse(now) - Date.parse(deposit.seenAt) > SLOW_FACTOR * Math.max(expectedMs, 20_000))
    return t.text("seen.slow");
  const { secondsLeft } = deposit;
  if (secondsLeft === null || secondsLeft <= 0) return t.text("step.confirm");
  return t.plural("seen.left", secondsLeft);
}

/** Opens at the first confirmation and closes on the last. */
function ring({ t }: PaymentContext, { confirmations, required }: CheckoutDeposit): VElement {
  const circle = (classes: string, attributes: Readonly<Record<string, string | number>>) =>
    h("circle", { class: classes, cx: 84, cy: 84, r: RADIUS, ...attributes });
  if (required === null) {
    return h(
      "div.ring.open",
      {},
      h(
        "svg",
        { viewBox: "0 0 168 168", "aria-hidden": "true" },
        circle("bed", {}),
        circle("run", { pathLength: 4, "stroke-dasharray": "1 3" }),
      ),
    );
  }
  const isStrokes = required <= STROKES_MAX && required > 1;
  const bed = isStrokes ? { pathLength: required, "stroke-dasharray": ".86 .14" } : {};
  const strokes = `${".86 .14 ".repeat(confirmations)}0 ${required}`;
  const run = { pathLength: required, "stroke-dasharray": isStrokes ? strokes : `${confirmations} ${required}` };
  const m = String(required);
  return h(
    "div.ring",
    {},
    h("svg", { viewBox: "0 0 168 168", "aria-hidden": "true" }, circle("bed", bed), circle("run", run)),
    h(
      "p",
      {},
      h("span.vh", {}, t.plural("seen.spoken", required, { n: String(confirmations), m })),
      h("span", { "aria-hidden": "true" }, h("b", {}, confirmations), t.text("seen.ring", { m })),
    ),
  );
}
