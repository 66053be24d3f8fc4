import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { command } from "../parts/parts.ts";
import type { MerchantContext } from "./frame.ts";

export type EndpointInput = { readonly url: string; readonly types: string };

export function endpointFields({ t }: MerchantContext, { url, types }: EndpointInput): VElement[] {
  return [
    h(
      "p.field",
      {},
      h("label", { for: "url" }, t.text("hooks.url")),
      h("input", { id: "url", name: "url", class: "id", type: "url", required: true, maxlength: 2_000, value: url }),
    ),
    h(
      "p.field",
      {},
      h("label", { for: "types" }, t.text("hooks.types")),
      h("input", {
        id: "types",
        name: "types",
        class: "id",
        required: true,
        maxlength: 2_000,
        value: types,
        spellcheck: "false",
        "aria-describedby": "types-help",
      }),
      h("span.small", { id: "types-help" }, t.text("hooks.types.help")),
    ),
  ];
}

export function secretNote({ t }: MerchantContext, secret: string): Child[] {
  return [h("p", {}, t.text("hooks.secret.what")), command(secret, t.text("hooks.secret.copy"))];
}
