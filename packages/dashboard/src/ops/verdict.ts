import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { formatAge } from "../format.ts";
import { icon, type IconName } from "../parts/icons.ts";
import { moment } from "../parts/parts.ts";
import type { Following, OpsContext } from "./opsContext.ts";
import { decideVerdict, type OpsState, type Verdict } from "./opsState.ts";

const SIGNS: Readonly<Record<Verdict["kind"], { name: IconName; tone: string }>> = {
  well: { name: "tick", tone: "sign good" },
  needed: { name: "warn", tone: "sign warn" },
  unknown: { name: "unknown", tone: "sign" },
};

export function verdictTitle({ t }: OpsContext, verdict: Verdict): string {
  if (verdict.kind === "needed") return t.plural("title.needed", verdict.count);
  return t.text(verdict.kind === "well" ? "title.well" : "title.unknown");
}

/** The one sentence that an operator came for, and how new it is. */
export function verdictView(context: OpsContext, state: OpsState, following: Following): VElement {
  const verdict = decideVerdict(state, following.ageMs);
  const { name, tone } = SIGNS[verdict.kind];
  return h(
    "section",
    { class: "verdict", id: "verdict", "aria-labelledby": "now" },
    h("span", { class: tone }, icon(name)),
    h("h1", { id: "now" }, verdictTitle(context, verdict)),
    h("div", {}, h("p", {}, join(sentences(context, state, verdict))), freshness(context, state, following)),
  );
}

/** Where money waits. */
const PAYMENT_STATIONS: ReadonlySet<string> = new Set(["deposit", "settlement", "bridge", "payout"]);

function sentences({ t, times }: OpsContext, state: OpsState, verdict: Verdict): Child[] {
  if (verdict.kind === "unknown") {
    const { readAt, failure } = state;
    return [
      readAt === null ? t.text("verdict.never") : t.rich("verdict.old", { time: moment(readAt, times) }),
      ...(failure === null ? [] : [t.rich("verdict.failure", { reason: failure })]),
    ];
  }
  const money = state.road.filter(({ name }) => PAYMENT_STATIONS.has(name));
  const oldest = Math.max(-1, ...money.map(({ oldestMs }) => oldestMs ?? -1));
  const waiting = oldest < 0 ? t.text("verdict.idle") : t.text("verdict.oldest", { age: formatAge(oldest) });
  const books = state.books?.differences === 0 ? [t.text("verdict.equal")] : [];
  if (verdict.kind === "needed") {
    const more = verdict.toWatch === 0 ? [] : [t.plural("verdict.watch", verdict.toWatch)];
    return [t.text("verdict.needed"), ...more, waiting];
  }
  const alarms =
    verdict.toWatch === 0
      ? t.text("verdict.none", { n: state.alarmKinds })
      : t.plural("verdict.onlyWatch", verdict.toWatch);
  return [alarms, waiting, ...books];
}

function join(parts: readonly Child[]): Child[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [" ", part]));
}

/** Changes every few seconds, so a screen reader is told only when the connection is lost. */
function freshness({ t, times }: OpsContext, { readAt }: OpsState, { everyS, problem }: Following): VElement {
  const looked =
    readAt === null
      ? []
      : everyS === null
        ? t.rich("verdict.lookedOnce", { time: moment(readAt, times) })
        : t.rich("verdict.looked", { time: moment(readAt, times), seconds: String(everyS) });
  const isStill = everyS === null || problem !== null;
  return h(
    "p.live",
    {},
    h("span", { class: isStill ? "dot still" : "dot" }),
    h("span", {}, looked),
    h("span", { id: "problem", role: "status", class: "warn" }, problem !== null && t.text(`verdict.${problem}`)),
  );
}
