import { h, type VElement } from "@tributary/checkout/vnode";
import type { MerchantContext } from "./frame.ts";

/** Rows never move under the reader: the script counts newer ones here, and the link shows them. */
export function newerLine({ t }: MerchantContext, href: string): VElement {
  const texts = { "data-one": t.text("list.newer.one"), "data-other": t.text("list.newer.other", { n: "{n}" }) };
  return h("p.newer", {
    id: "newer",
    role: "status",
    "data-href": href,
    "data-show": t.text("list.newer.show"),
    ...texts,
  });
}
