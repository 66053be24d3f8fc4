import { h, type VElement } from "../vnode.ts";

/** Paths on a grid of 24, drawn as lines of the text's colour. */
const ICONS = {
  copy: "M11.5 9h6A2.5 2.5 0 0 1 20 11.5v6a2.5 2.5 0 0 1-2.5 2.5h-6A2.5 2.5 0 0 1 9 17.5v-6A2.5 2.5 0 0 1 11.5 9zM5.5 15A1.5 1.5 0 0 1 4 13.5v-8A1.5 1.5 0 0 1 5.5 4h8A1.5 1.5 0 0 1 15 5.5",
  tick: "m5 12.5 4.5 4.5L19 7.5",
  plus: "M12 5v14M5 12h14",
  pause: "M8.5 6v12M15.5 6v12",
  clock: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM12 7v5.3l3.3 2",
  shield: "M12 2.5 20 6v5.5c0 5-3.4 8.5-8 10-4.6-1.5-8-5-8-10V6zm-3.5 9.5 2.5 2.5 4.5-5",
  shieldNo: "M12 2.5 20 6v5.5c0 5-3.4 8.5-8 10-4.6-1.5-8-5-8-10V6zM9 9l6 6M15 9l-6 6",
  turn: "m9 5 7 7-7 7",
  back: "M19 12H5.5M11 5.5 4.5 12l6.5 6.5",
  out: "M10 5H6.5A1.5 1.5 0 0 0 5 6.5v11A1.5 1.5 0 0 0 6.5 19h11a1.5 1.5 0 0 0 1.5-1.5V14M14 4.5h5.5V10M19 5l-8 8",
  globe: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM3.5 12h17M12 3.5c5 5.5 5 11.5 0 17M12 3.5c-5 5.5-5 11.5 0 17",
  print:
    "M7 9V4h10v5M7 17H5a1.5 1.5 0 0 1-1.5-1.5v-5A1.5 1.5 0 0 1 5 9h14a1.5 1.5 0 0 1 1.5 1.5v5A1.5 1.5 0 0 1 19 17h-2M7 14h10v6.5H7z",
  search: "M11 4.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM16 16l4.5 4.5",
  again: "M19.5 12a7.5 7.5 0 1 1-2.3-5.4L20 9M20 4v5h-5",
  broken:
    "M9.5 14.5 8 16a3.5 3.5 0 0 1-5-5l3-3M14.5 9.5 16 8a3.5 3.5 0 0 1 5 5l-3 3M8 3.5V6M3.5 8H6M16 20.5V18M20.5 16H18",
  box: "M5 4h14a1.5 1.5 0 0 1 1.5 1.5v2A1.5 1.5 0 0 1 19 9H5a1.5 1.5 0 0 1-1.5-1.5v-2A1.5 1.5 0 0 1 5 4zM5.5 9v9a2 2 0 0 0 2 2h9a2 2 0 0 0 2-2V9M10 13h4",
  ask: "M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1-1.5 2.3M12 18.5v.01",
  cloud: "M7 18.5a4 4 0 0 1-.5-8 6 6 0 0 1 11.3 1 3.5 3.5 0 0 1-.3 7zM12 11v3M12 16.5v.01",
  unplugged: "M4 4l16 16M8.5 15.5a5 5 0 0 1 5-1.2M5 12a10 10 0 0 1 4-2.4M13 9a10 10 0 0 1 6 3M12 19v.01",
  flask: "M9.5 3.5v6l-5 8.5a1.7 1.7 0 0 0 1.5 2.5h12a1.7 1.7 0 0 0 1.5-2.5l-5-8.5v-6M8 3.5h8M7.5 14.5h9",
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName, classes = ""): VElement {
  const attributes = { class: `ic ${classes}`.trim(), viewBox: "0 0 24 24", "aria-hidden": "true" };
  return h("svg", attributes, h("path", { d: ICONS[name] }));
}
