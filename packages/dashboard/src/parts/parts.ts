import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { formatMoment, formatUtc, shorten, type TimeFormat } from "../format.ts";
import { icon } from "./icons.ts";

/** What every view needs beside its data. */
export type Times = TimeFormat & { /** ISO 8601: the moment that days are compared with. */ readonly now: string };

export function moment(iso: string, times: Times): VElement {
  return h("time", { datetime: iso, title: formatUtc(iso) }, formatMoment(iso, times.now, times));
}

/** A panel with its heading. `side` stands at the end of the heading's line. */
export function panel(
  { id, title, side, isSlim = false }: { id: string; title: Child; side?: Child; isSlim?: boolean },
  ...content: readonly Child[]
): VElement {
  return h(
    "section",
    { class: isSlim ? "panel slim" : "panel", "aria-labelledby": id },
    h("header", {}, h("h2", { id }, title), side !== undefined && h("span.small.dim", {}, side)),
    content,
  );
}

export function inside(...content: readonly Child[]): VElement {
  return h("div.in", {}, content);
}

export type Tone = "ok" | "part" | "plain" | "flow" | "stop" | "fail" | "done";

/** A word for a state. Shape and word carry the meaning, the colour only repeats it. */
export function tag(tone: Tone, word: string): VElement {
  return h("span", { class: tone === "plain" ? "tag" : `tag ${tone}` }, h("bdi", { translate: "no" }, word));
}

/** An id, address or hash. One press selects the whole; `isShort` shows its ends. */
export function idText(text: string, isShort = false): VElement {
  const shown = isShort ? shorten(text) : text;
  return h("span", { class: "id", translate: "no", title: shown === text ? undefined : text }, shown);
}

/** A sum: two decimals in ink, the rest dim and exact to the last digit. */
export function amount(decimal: string, symbol: string): VElement {
  const [whole = "0", fraction = ""] = decimal.split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  const shown = fraction.padEnd(2, "0");
  return h(
    "bdi",
    { dir: "ltr" },
    h("span.amt", {}, `${grouped}.${shown.slice(0, 2)}`, shown.length > 2 && h("i", {}, shown.slice(2))),
    " ",
    h("span.coin", {}, symbol),
  );
}

/** A command to copy. It never runs from the page. */
export function command(text: string, copyLabel: string): VElement {
  return h(
    "div.cmd",
    {},
    h("code", { translate: "no" }, text),
    h(
      "button.icon-btn.js",
      { type: "button", "data-copy": text, "aria-label": `${copyLabel}: ${text}` },
      icon("copy", "s"),
    ),
  );
}

/** Names and values, one below the other. */
export function facts(rows: readonly (readonly [name: Child, value: Child])[], classes = "kv line"): VElement {
  return h(
    "dl",
    { class: classes },
    rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** A text in which words between backticks are code. */
export function withCode(text: string): Child[] {
  return text.split("`").map((part, index) => (index % 2 === 0 ? part : h("code", { translate: "no" }, part)));
}

export function chainName(name: string): VElement {
  return h(
    "span.chain",
    {},
    h("span.mark", { "aria-hidden": "true" }, name.slice(0, 1).toUpperCase()),
    h("bdi", { translate: "no" }, name),
  );
}
