import { h, type VElement } from "@tributary/checkout/vnode";
import { dateFormat, groupDigits } from "../format.ts";
import type { Times } from "../parts/parts.ts";
import type { MerchantContext } from "./frame.ts";
import type { SettlementDays } from "./settlementDays.ts";

// Bars of days as SVG with attributes, because the policy allows no inline style. The numbers stand in a table beside it.

const WIDTH = 936;
const HEIGHT = 240;
const PLOT = { left: 72, right: WIDTH, top: 12, bottom: 210 };
/** Colours of chains. With more of them, the smallest share the last colour. */
const COLOURS = 5;
const LINES = 3;
/** About as many names of days as fit below the bars. */
const NAMES = 6;

/** A day as people write it, such as "28 Nov". */
export function dayName(day: string, { locale, now }: Times): string {
  const isSameYear = day.slice(0, 4) === now.slice(0, 4);
  const format = dateFormat(locale, {
    day: "numeric",
    month: "short",
    ...(isSameYear ? {} : { year: "numeric" }),
    numberingSystem: "latn",
    timeZone: "UTC",
  });
  return format.format(new Date(`${day}T00:00:00Z`));
}

export function dayChart(context: MerchantContext, data: SettlementDays): VElement {
  const { t, times } = context;
  const { days, coin, chains, today } = data;
  const topValue = niceMax(Math.max(...days.map(({ net }) => Number(net)), 0));
  const yOf = (value: number) => PLOT.bottom - (value / topValue) * (PLOT.bottom - PLOT.top);
  const step = (PLOT.right - PLOT.left) / days.length;
  const series = chains.map(({ name, nets }, index) => ({ name, nets, colour: Math.min(index, COLOURS - 1) + 1 }));
  const lines = Array.from({ length: LINES + 1 }, (_line, index) => (topValue / LINES) * index).flatMap((value) => {
    const y = yOf(value).toFixed(1);
    return [
      h("line.grid", { x1: PLOT.left, x2: PLOT.right, y1: y, y2: y }),
      h("text", { x: PLOT.left - 10, y: (yOf(value) + 5).toFixed(1), "text-anchor": "end" }, shortNumber(value)),
    ];
  });
  const bars = days.map(({ day, net }, index) => {
    let below = 0;
    const rects = series.flatMap(({ nets, colour }) => {
      const value = Math.max(0, Number(nets[index] ?? "0"));
      if (value === 0) return [];
      const y = yOf(below + value);
      const rect = h("rect", {
        class: `c${colour}`,
        x: (PLOT.left + index * step + step * 0.14).toFixed(1),
        y: y.toFixed(1),
        width: (step * 0.72).toFixed(1),
        height: (yOf(below) - y).toFixed(1),
      });
      below += value;
      return [rect];
    });
    const title = h("title", {}, `${dayName(day, times)}: ${net} ${coin}`);
    return h("g", { class: day === today ? "today" : undefined }, title, rects);
  });
  const every = Math.max(1, Math.ceil(days.length / NAMES));
  const names = days.flatMap(({ day }, index) =>
    index % every === 0
      ? [
          h(
            "text",
            { x: (PLOT.left + (index + 0.5) * step).toFixed(1), y: 232, "text-anchor": "middle" },
            dayName(day, times),
          ),
        ]
      : [],
  );
  const label = t.text("days.chart", { coin });
  const legend = series.slice(0, COLOURS).map(({ name, colour }, index) => {
    const isRest = index === COLOURS - 1 && series.length > COLOURS;
    return h(
      "li",
      { class: `c${colour}` },
      h("i"),
      h("span.ink", {}, isRest ? t.text("days.otherChains") : h("bdi", { translate: "no" }, name)),
    );
  });
  const svg = h(
    "svg.chart",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    lines,
    bars,
    names,
  );
  return h(
    "figure.days",
    {},
    h("ul.legend", {}, legend),
    // Narrow screens scroll it, because its texts would be too small.
    h("div.chart-scroll", { tabindex: "0", role: "group", "aria-label": label }, svg),
  );
}

/** The next number that grid lines divide into round parts. */
function niceMax(value: number): number {
  if (value <= 0) return LINES;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1.5, 3, 6, 9, 15].map((factor) => factor * power).find((each) => each >= value) ?? value;
}

function shortNumber(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(2))} M`;
  return value < 10 ? String(Number(value.toPrecision(2))) : groupDigits(String(Math.round(value)));
}
