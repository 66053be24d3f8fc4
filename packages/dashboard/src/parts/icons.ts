import { h, type VElement } from "@tributary/checkout/vnode";

/** Paths on a grid of 24, drawn as lines of the text's colour. */
const ICONS = {
  copy: "M11.5 9h6A2.5 2.5 0 0 1 20 11.5v6a2.5 2.5 0 0 1-2.5 2.5h-6A2.5 2.5 0 0 1 9 17.5v-6A2.5 2.5 0 0 1 11.5 9zM5.5 15A1.5 1.5 0 0 1 4 13.5v-8A1.5 1.5 0 0 1 5.5 4h8A1.5 1.5 0 0 1 15 5.5",
  tick: "m5 12.5 4.5 4.5L19 7.5",
  warn: "M12 4 2.8 20h18.4zM12 10v4.5M12 17.3v.2",
  eye: "M3 12c3-5 6-6.5 9-6.5S18 7 21 12c-3 5-6 6.5-9 6.5S6 17 3 12zM12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  search: "M10.5 4.5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15 15l5 5",
  unknown: "M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1-1.5 2.3M12 18.5v.01",
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName, classes = ""): VElement {
  const attributes = { class: `ic ${classes}`.trim(), viewBox: "0 0 24 24", "aria-hidden": "true" };
  return h("svg", attributes, h("path", { d: ICONS[name] }));
}

/** The product's mark: streams that become one. */
export function logo(): VElement {
  const stream = (d: string, width: string) => h("path", { d, "stroke-width": width });
  return h(
    "svg.logo",
    { viewBox: "0 0 40 40", "aria-hidden": "true" },
    h("path", { fill: "#0f5470", d: "M0 0h40v40H0z" }),
    h(
      "g",
      { fill: "none", stroke: "#fff", "stroke-linecap": "round" },
      stream("M8 9c6 1 8 6 12 11", "2.5"),
      stream("M20 7v13", "2.5"),
      stream("M32 9c-6 1-8 6-12 11", "2.5"),
      stream("M20 21v12", "5"),
    ),
  );
}
