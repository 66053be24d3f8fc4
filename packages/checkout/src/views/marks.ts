import type { Situation } from "../situation.ts";
import { h, type VElement } from "../vnode.ts";

/**
 * A network's mark with its coin's, in the colour of the text. The network's first letter stands for a mark that is not
 * there.
 */
export function networkMark({ marks }: Pick<Situation, "marks">, network: string, symbol = ""): VElement {
  const name = network.toLowerCase().replaceAll(" ", "-");
  const drawing = marks?.get(`on-${name}`) ?? marks?.get(`on-${name.split("-")[0]}`);
  const coin = marks?.get(`coin-${symbol.toLowerCase()}`);
  return h(
    "span.mark",
    { "aria-hidden": "true" },
    drawing === undefined ? network.slice(0, 1).toUpperCase() : draw(drawing, "glyph"),
    coin !== undefined && draw(coin, "coin"),
  );
}

function draw(path: string, classes: string): VElement {
  return h("svg", { class: classes, viewBox: "0 0 24 24" }, h("path", { d: path }));
}
