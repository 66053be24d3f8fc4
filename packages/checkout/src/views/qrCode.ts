import { encode } from "uqr";
import { h, type VElement } from "../vnode.ts";

const QUIET_MODULES = 1;

/** The last codes: the page is drawn anew with each change, and a code takes longer than everything else. */
const drawn = new Map<string, { path: string; size: number }>();
const DRAWN_MAX = 8;

/** Draws a QR code as one path. `label` is what a screen reader says instead. */
export function qrCode(content: string, label: string): VElement {
  const { path, size } = drawn.get(content) ?? drawPath(content);
  const attributes = {
    role: "img",
    "aria-label": label,
    viewBox: `0 0 ${size} ${size}`,
    "shape-rendering": "crispEdges",
  };
  return h("svg", { ...attributes, "data-content": content }, h("path", { d: path }));
}

function drawPath(content: string): { path: string; size: number } {
  const { data, size } = encode(content, { ecc: "M", border: QUIET_MODULES });
  let path = "";
  data.forEach((row, y) => {
    for (let x = 0; x < size; x += 1) {
      if (row[x] !== true) continue;
      const start = x;
      while (row[x + 1] === true) x += 1;
      path += `M${start} ${y}h${x + 1 - start}v1H${start}z`;
    }
  });
  const [oldest = ""] = drawn.size >= DRAWN_MAX ? drawn.keys() : [];
  drawn.delete(oldest);
  drawn.set(content, { path, size });
  return { path, size };
}
