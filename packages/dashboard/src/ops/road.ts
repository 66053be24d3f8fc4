import { h, type VElement } from "@tributary/checkout/vnode";
import { formatAge, groupDigits } from "../format.ts";
import { chainName, inside, panel } from "../parts/parts.ts";
import type { OpsContext } from "./opsContext.ts";
import type { OpsChain, OpsState, OpsStation } from "./opsState.ts";

const HOUR_MS = 3_600_000;

/** The way of the money: what waits at each station, for how long, and how much passed. */
export function roadView(context: OpsContext, state: OpsState): VElement {
  const { t } = context;
  return panel(
    { id: "road", title: t.text("road.heading"), side: t.text("road.what") },
    inside(
      river(context, state),
      h(
        "ol.road",
        {},
        state.road.map((station) => stationView(context, station, state.ratesMs)),
      ),
    ),
  );
}

function stationView({ t }: OpsContext, station: OpsStation, ratesMs: number): VElement {
  const { name, waiting, oldestMs, passed, flow, parts } = station;
  const shownParts = Object.entries(parts).filter(([, count]) => count > 0);
  return h(
    "li",
    { class: flow === "flowing" ? undefined : flow, id: `station-${name}` },
    h("h3", { translate: "no" }, name),
    h("p.q", {}, waiting === null ? "–" : groupDigits(String(waiting))),
    h(
      "div.sub",
      {},
      h("p", {}, waiting === null ? t.text("road.unknown") : t.text(`road.${name}`)),
      shownParts.map(([part, count]) => h("p", {}, t.text(partKey(part), { n: count }))),
      flow !== "flowing" && h("p", { class: flow === "stuck" ? "bad" : "warn" }, t.text(`road.${flow}`)),
      oldestMs !== null && h("p", {}, t.text("road.oldest", { age: formatAge(oldestMs) })),
      passed !== null && h("p", {}, rate({ t }, { n: passed, what: t.text(`passed.${name}`), ratesMs })),
    ),
  );
}

const PARTS = ["seen", "confirmed", "due", "planned", "held", "burned", "attested"] as const;

function partKey(part: string) {
  const known = PARTS.find((each) => each === part) ?? "due";
  return `road.parts.${known}` as const;
}

function rate(
  { t }: Pick<OpsContext, "t">,
  { n, what, ratesMs }: { n: number; what: string; ratesMs: number },
): string {
  return ratesMs >= HOUR_MS
    ? t.text("road.perHour", { n: groupDigits(String(n)), what })
    : t.text("road.inPeriod", { n: groupDigits(String(n)), what, age: formatAge(ratesMs) });
}

const ROWS_MAX = 5;
const ROW_HEIGHT = 32;
const MIDDLE = 80;
const [START, BRIDGE_FROM, BRIDGE_TO] = [180, 480, 775];

/** The same as a picture: chains flow into one course. Decoration, because every number stands in the list below. */
function river({ t }: OpsContext, { chains, road, ratesMs }: OpsState): VElement | null {
  const shown = chains.slice(0, ROWS_MAX);
  if (shown.length === 0) return null;
  const flowOf = (name: OpsStation["name"]) => road.find((each) => each.name === name)?.flow ?? "flowing";
  const sources = shown.map(({ transfersPassed }, index) => {
    const y = ROW_HEIGHT / 2 + index * ROW_HEIGHT;
    const width = 2.5 + Math.min(4, Math.log2(1 + transfersPassed));
    return { d: `M0 ${y} H40 C110 ${y} 110 ${MIDDLE} ${START} ${MIDDLE}`, width };
  });
  const bridge = `M${BRIDGE_FROM} ${MIDDLE}C540 ${MIDDLE} 560 24 625 24S715 ${MIDDLE} ${BRIDGE_TO} ${MIDDLE}`;
  const hasBridge = chains.length > 1;
  return h(
    "div.river",
    { "aria-hidden": "true" },
    h(
      "ul",
      {},
      shown.map((chain) => sourceView({ t }, chain, ratesMs)),
    ),
    h(
      "svg",
      { viewBox: "0 0 1000 160", preserveAspectRatio: "none" },
      sources.map(({ d, width }) => course(d, width)),
      course(`M${START} ${MIDDLE}H${BRIDGE_FROM}`, 9, flowOf("deposit")),
      course(`M${BRIDGE_FROM} ${MIDDLE}H${BRIDGE_TO}`, 7, flowOf("settlement")),
      hasBridge && course(bridge, 4, flowOf("bridge")),
      course(`M${BRIDGE_TO} ${MIDDLE}H1000`, 6, flowOf("payout")),
      [START, 330, BRIDGE_FROM, BRIDGE_TO].map((x) => h("path", { "stroke-width": 15, d: `M${x} ${MIDDLE}h.01` })),
    ),
  );
}

function course(d: string, width: number, flow: OpsStation["flow"] = "flowing"): VElement[] {
  if (flow !== "flowing") return [h("path", { class: flow, "stroke-width": width, d })];
  return [
    h("path", { class: "bed", "stroke-width": width, d }),
    h("path", { class: "run", "stroke-width": Math.max(1.5, width / 2), d }),
  ];
}

function sourceView({ t }: Pick<OpsContext, "t">, { name, transfersPassed }: OpsChain, ratesMs: number): VElement {
  const n = groupDigits(String(transfersPassed));
  const passed =
    ratesMs >= HOUR_MS ? t.text("road.short", { n }) : t.text("road.shortIn", { n, age: formatAge(ratesMs) });
  return h("li", {}, chainName(name), h("span.small.dim", {}, passed));
}
