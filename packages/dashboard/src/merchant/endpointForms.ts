import { h, type Child, type VElement } from "@tributary/checkout/vnode";
import { command } from "../parts/parts.ts";
import type { MerchantContext } from "./frame.ts";

// Forms of the dashboard that change something. Each carries the token of its session.

/** A session that may change things. */
export type Manager = { readonly token: string };

export function actionForm(
  { manager, action }: { manager: Manager; action: string },
  ...content: readonly Child[]
): VElement {
  return h(
    "form",
    { method: "post", action },
    h("input", { type: "hidden", name: "token", value: manager.token }),
    content,
  );
}

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
