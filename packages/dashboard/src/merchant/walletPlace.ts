import { h, type Child } from "@tributary/checkout/vnode";
import type { MerchantTranslator } from "./messages.ts";

/** Where the script offers the wallets of the browser, and the form that carries what one signed. */
export function walletPlace(
  { t }: { readonly t: MerchantTranslator },
  {
    action,
    token,
    wallet,
    fields = {},
  }: { action: string; token?: string; wallet?: string; fields?: Readonly<Record<string, string>> },
): Child[] {
  const hidden = { ...fields, ...(token === undefined ? {} : { token }), nonce: "", signature: "" };
  return [
    h("div.acts.js", {
      id: "wallets",
      "data-wallet": wallet,
      "data-waiting": t.text("wallet.waiting"),
      "data-failed": t.text("wallet.failed"),
      "data-other": wallet === undefined ? undefined : t.text("wallet.other", { wallet }),
    }),
    h("p.small.dim", { id: "wallet-status", role: "status" }, t.text("wallet.none")),
    h(
      "form",
      { id: "signature-form", method: "post", action, hidden: true },
      Object.entries(hidden).map(([name, value]) => h("input", { type: "hidden", name, value })),
    ),
  ];
}
