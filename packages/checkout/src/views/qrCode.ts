import { encode } from "uqr";
import { h, type VElement } from "../vnode.ts";

const QUIET_MODULES = 1;

/** Draws a QR code as one path. `label` is what a screen reader says instead. */
export function qrCode(content: string, label: string): VElement {
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
  const attributes = {
    role: "img",
    "aria-label": label,
    viewBox: `0 0 ${size} ${size}`,
    "shape-rendering": "crispEdges",
  };
  return h("svg", { ...attributes, "data-content": content }, h("path", { d: path }));
}
